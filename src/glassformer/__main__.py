"""`python -m glassformer` is the same as `glassformer`."""

from glassformer.cli import program

program()
