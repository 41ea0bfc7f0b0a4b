"""One file a panel: compute(subject), title(data), draw(frame, data), caption(data)."""
