"""Stand-alone files that reproduce a model: PyTorch, ONNX, plain Python, a board submission."""
