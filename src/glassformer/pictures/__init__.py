"""Pictures: figures, the adder's poster and videos, from the numbers that the model itself computes.

Nothing here imports JAX; only the modules that draw import Matplotlib.
"""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "measure.demand": "find_source format_demand",
    "measure.prepare": "make_subject",
    "measure.subject": "Subject",
    "measure.trials": "draw_trials",
    "notebook": "embed_pictures",
    "parts.frame": (
        "BODY Frame LINE POINTS SMALL TITLE make_sheet measure_foot_height measure_text_width write_foot"
    ),
    "parts.matrices": (
        "draw_scale_bar format_cell_numbers make_share_colours make_signed_colours name_ticks "
        "print_cell_numbers"
    ),
    "picture": "Data Picture choose_pictures",
    "pipeline": "PictureStyle draw_pictures",
    "poster.sums": "find_model_summary",
    "registry": "COMPARISON DRAWN FIGURES FILMS PANELS SPECTRA choose_usual_pictures",
    "save": "CAPTIONS require_formats write_captions",
    "video": "choose_films render_video",
}
