"""Exact spectra of matrices and heads by small symmetric problems."""
