"""Measures: what a model really does, on fresh inputs, with intervals."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "addition": (
        "AdditionReport QUALIFIES WrongSum list_wrong_sums make_hard_blocks measure_addition write_answers"
    ),
    "families": "choose_measurer",
}
