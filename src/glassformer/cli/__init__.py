"""The command line: options read from the verbs' own functions, help, parsing, the entry `main`."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "program": "program",
}
