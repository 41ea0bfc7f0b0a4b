"""The page: one HTML file that holds a run, computes live, and needs no network.

    payload.py     all data of a model's page, put together from the *_part.py files
    story.py       the chapters that explain it, from the story_*.py files
    write.py       payload, script and style as one file; modules.py joins the scripts of assets/
    index.py       the page over a folder of runs
    sweep_page.py  the page of a sweep
    notebook.py    a page inside a notebook

The page of a spectra folder is in lens/page/. What the browser computes is the forward pass, traced by
models/program.py.

In assets/ main.js, index_main.js and sweep_main.js are the three pages; types.js says what their data is.
"""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "common_part": "NAMES make_common_part",
    "index": "make_index_html",
    "notebook": "make_file_frame",
    "pack": "pack_array",
    "payload": "make_page_payload",
    "sweep_page": "write_sweep_page",
    "table_file": "read_table",
    "write": "make_html",
}
