"""Pictures: figures, the adder's poster and videos, from the numbers that the model itself computes.

Nothing here imports JAX; only the modules that draw import Matplotlib.
"""
