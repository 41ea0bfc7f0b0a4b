"""One module a verb: each turns options into calls and results into words."""
