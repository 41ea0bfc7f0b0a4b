"""Verification: what a model really does, measured and (as it lands) proved."""
