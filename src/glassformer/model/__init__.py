"""What computes: parts, the forward pass, the counts. NumPy and JAX run the same code."""
