"""One file a video: compute(subject, shown) gives its data, perform(data, theme, width) its stage."""
