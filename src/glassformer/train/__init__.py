"""Training: whole populations of seeds in one compiled program."""
