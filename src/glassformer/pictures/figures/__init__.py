"""One figure per file: `compute` makes its data, `draw` makes the picture of them, `caption` says how."""
