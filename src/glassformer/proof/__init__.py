"""Proof: right on every input, or the input where it fails."""
