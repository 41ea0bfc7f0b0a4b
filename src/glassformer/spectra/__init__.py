"""The weight lens: spectra of every matrix and every attention head of a checkpoint, tensor by tensor.

checkpoint (read) -> layout (adapt) -> units (compute) -> tables, report and figures. Nothing here needs JAX,
PyTorch or transformers, and no model is ever built.
"""
