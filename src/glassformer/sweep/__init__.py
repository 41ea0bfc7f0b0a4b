"""Configurations x seeds: trained, selected, tested, mined and proved, into one table."""
