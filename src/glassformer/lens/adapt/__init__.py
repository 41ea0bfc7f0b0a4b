"""Adapters: from the names of an architecture's tensors to its matrices and heads."""
