"""What everything may use; it imports nothing else of glassformer.

errors.py      errors that a user can fix: one sentence, what was expected, the nearest valid name
edge.py        the edge of a command: whatever goes wrong inside becomes a sentence and an exit status
atomic.py      files that are either the old ones or the new ones, and the lock of a folder
folder.py      folders that a command fills: its own kind is resumed, others are refused
text_files.py  TOML and JSON from anybody, read within limits
words.py       words for numbers: counts, lists, shares that never round to all or none, few digits
share.py       a measured share with its exact 95% interval
spread.py      work on all cores, results in order
waiting.py     bars and signs of work on a terminal
theme.py       colours and sizes of every figure, video and page
"""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "answer": "Answer Request",
    "atomic": (
        "lock_folder make_folder read_arrays refuse_links remove_outputs remove_unfinished "
        "replace_nonfinite write_arrays write_bytes write_json write_text"
    ),
    "edge": "GOOD INTERRUPTED STOPPED_RUN guard_action print_output",
    "errors": "UserError locate_error make_unknown_error require_bounds require_value shorten_value",
    "folder": "FolderKind describe_difference refuse_file",
    "share": "MeasuredShare",
    "spread": "count_cores limit_blas_threads map_threads",
    "text_files": "decode_json decode_toml describe_decode_error read_bytes read_json read_text read_toml",
    "theme": (
        "INTEGERS KINDS THEMES Theme find_theme list_line_colours mix_colours name_colour "
        "pick_accent_text_colour pick_text_colour pick_token_colour scale_token_colours"
    ),
    "values": "LATER list_texts split_list",
    "waiting": "TellCount TellShare show_count_bar show_share_bar show_status",
    "words": (
        "MINUS allow_long_numbers choose_plural format_count format_decimals format_exponent format_interval "
        "format_large_count format_percent format_power format_scientific format_share format_significant "
        "format_stored_share format_trimmed join_words lower_digits replace_minus "
        "shorten_number"
    ),
}
