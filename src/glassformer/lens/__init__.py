"""The weight lens: spectra of every matrix and every attention head of a checkpoint, tensor by tensor.

checkpoint (read) -> layout (adapt) -> units (compute) -> tables, report, figures and page, by `glassformer
spectra` (command). Nothing here needs JAX, PyTorch or transformers, and no model is ever built.
"""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "command.spectra": "answer_spectra spectra",
    "page.write": "is_spectra_folder make_spectra_html",
}
