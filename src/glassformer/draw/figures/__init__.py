"""One figure a file: `compute` makes its data, `draw` makes the picture of them, `caption` says how."""
