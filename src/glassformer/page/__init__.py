"""The page: one HTML file that holds a run, computes live, and needs no network.

    payload.py       all that a page knows of a model, put together from the *_part.py beside it
    story.py         the chapters that explain it, from story_rule.py, story_adder.py and story_past.py
    program.py       what the browser computes: the forward pass, traced by ops_trace.py and symbols.py
    write.py         payload, script and style as one file; modules.py joins the scripts of assets/
    index.py         the page over a folder of runs
    spectra_page.py  the page of a spectra folder, from the spectra_*.py beside it
    notebook.py      a page inside a notebook

In assets/ main.js, index_main.js and spectra_main.js are the three pages; types.js says what their data is.
"""
