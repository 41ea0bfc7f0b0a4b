"""One file per panel: compute(sums), title(data), draw(frame, data), caption(data)."""
