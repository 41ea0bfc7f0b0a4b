"""Readers: from files to named tensors that are read a block at a time."""
