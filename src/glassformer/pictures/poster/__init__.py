"""The adder's explainer: panels about one model, alone or on one sheet. Everything in it is measured."""
