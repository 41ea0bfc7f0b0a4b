"""Training: whole populations of seeds in one compiled program."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "flat": "make_flat_layout",
    "kernels": "uses_gpu",
    "objective": "HeldOutScores",
    "population": "Population StretchResult TrainingState",
    "reduce": "reduce_model",
    "settings": "TrainSettings",
    "setup": "set_up_jax",
    "streams": "STREAMS make_stream_key",
}
