"""The computation graph of figure 01: its boxes, where they stand, and how they are drawn."""
