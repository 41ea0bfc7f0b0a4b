"""The adder's explainer: nine panels about one model, alone or on one sheet. Everything in it is measured."""
