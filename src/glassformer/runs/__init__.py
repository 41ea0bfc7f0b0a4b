"""Runs: what was asked, what was made, and how to resume after an interruption."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "adders": "begins_where_some_succeed",
    "budget": "ResourceCost estimate_run_cost estimate_test_cost require_affordable",
    "config": "Run",
    "configurations": "CONFIGURATIONS",
    "environment": "describe_environment",
    "folder": "find_runs is_complete open_run_folder read_stored_run tidy_run_folder",
    "history": "History read_history read_seed",
    "load": "LoadedModel RUNS load_model load_run load_weights_file make_file_metadata",
    "metrics": "Row find_metrics read_metrics",
    "resolve": "configure_run list_setting_leaves make_code_refusal parse_value resolve_run strip_rule_file",
    "seal": (
        "RESULT digest_files find_damaged is_sealed replace_sealed_files require_unchanged "
        "require_whole_run seal_written_files"
    ),
    "start": "require_startable",
    "training": "Miner rank_seeds train_into_folder",
    "tree": "from_tree require_plain_type to_tree",
}
