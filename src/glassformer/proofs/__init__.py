"""Proof: right on every input, or the input where it fails."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "certificate": "hash_model",
    "contexts": "Demand Demands NOTHING find_window_demand list_demands tabulate_demands",
    "mining": "mine_problems",
    "population": "prove_seeds",
    "prove": "make_unprovable_verdict prove_model",
    "response": "parse_pair respond_input respond_sum write_sums",
    "rounding": "Rounding",
    "stored": "find_stored_verdict find_verdict",
    "tables": "NotProvableError",
    "verdict": "ALL_INPUTS Verdict",
    "verdict_words": (
        "NumberFormats describe_badge describe_error_shares describe_exported_verdict "
        "describe_page_verdict describe_proved_inputs describe_undecided describe_verdict "
        "format_hardest_input"
    ),
    "window": "ColumnWindow find_window",
}
