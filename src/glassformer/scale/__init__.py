"""Where work runs: in this process, in one process per GPU, or on a Ray cluster."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "child": "describe_exit make_import_path",
    "choose": "make_engine",
    "engine": "Engine",
    "gpus": "list_gpus",
    "here": "LocalEngine",
}
