"""Runs: what was asked, what was made, and how to go on after an interruption."""
