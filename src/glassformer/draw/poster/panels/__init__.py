"""One file a panel: compute(sums), title(data), draw(frame, data), caption(data)."""
