"""The page: one HTML file that holds a run, computes live, and needs no network.

    payload.py       all that a page knows of a model, put together from the *_part.py beside it
    story.py         the chapters that explain it, from story_rule.py, story_adder.py and story_past.py
    write.py         payload, script and style as one file; modules.py joins the scripts of assets/
    index.py         the page over a folder of runs
    spectra_page.py  the page of a spectra folder, from the spectra_*.py beside it
    sweep_page.py    the page of a sweep
    notebook.py      a page inside a notebook

What the browser computes is the forward pass, traced by model/program.py.

In assets/ main.js, index_main.js, spectra_main.js and sweep_main.js are the four pages; types.js says what
their data is.
"""
