"""What figures are made of: paper, labels, points, matrices, maps, rows of tokens."""
