"""Shapes are checked at run time here: the hook must be in place before the module is imported."""

from jaxtyping import install_import_hook

install_import_hook("glassformer.model.count", "beartype.beartype")
