"""`python -m glassformer` is the same as `glassformer`."""

import sys

from glassformer.cli import main

sys.exit(main())
