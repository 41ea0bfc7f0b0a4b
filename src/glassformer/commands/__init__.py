"""One file per verb: its function, whose signature and docstring are options and help, and its answer."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "add": "add answer_add",
    "check": "answer_check check",
    "count": "answer_count count",
    "draw": "answer_draw draw",
    "export": "answer_export export",
    "list": "answer_list list_items",
    "load": "load",
    "page": "answer_page page",
    "prove": "answer_prove answer_prove_population prove prove_population",
    "prove_bits": "answer_prove_bits prove_bits",
    "prune": "answer_prune prune",
    "run": "answer_run run train",
    "sweep": "answer_sweep sweep",
    "test": "answer_test test",
    "values": "refuse_unused",
    "video": "answer_video video",
}
