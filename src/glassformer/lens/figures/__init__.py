"""Figures of an analysis: heads, weights over depth, variance, spectra, relations, treatments."""
