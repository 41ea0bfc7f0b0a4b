"""The page: one HTML file that holds a run, computes live, and needs no network."""
