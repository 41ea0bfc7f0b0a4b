"""Sweeps: configurations over many seeds, trained, tested and proved, into one table of success rates."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "folder": "MODELS PAGE PLAN RESULT SWEEP TABLE UNITS is_sweep_folder open_sweep_folder read_stored_sweep",
    "models": "save_proved_models write_sweep_certificates",
    "plan": "BLOCK GPU_BLOCK Sweep estimate_sweep_cost",
    "reading": "make_sweep parse_grid_options",
    "store": "write_unit_plan",
    "sweep": (
        "SweepProgress make_local_job make_remote_job read_sweep_progress run_sweep_units "
        "write_seed_table write_sweep_table"
    ),
    "unit": "Unit",
}
