"""Where work runs: in this process, in one process a GPU, or on a Ray cluster."""
