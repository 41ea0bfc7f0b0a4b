"""Damage, at three levels: bytes, the parsed tree, and values that parsers hate."""
