"""One file per video: compute(subject, shown) gives its data, perform(data, theme, width) its stage."""
