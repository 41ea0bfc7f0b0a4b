"""`python -m glassformer` is the same as `glassformer`."""

from glassformer.cli.program import program

program()
