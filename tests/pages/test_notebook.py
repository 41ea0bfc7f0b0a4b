"""A page inside a notebook: live in its sandbox, unable to reach the notebook, and its texts stay texts."""

from dataclasses import dataclass

import numpy as np
import pytest

import glassformer
from glassformer.commands.run_result import read_result
from glassformer.models.architecture import make_reference_architecture
from glassformer.models.forward import list_parameters
from glassformer.pages.notebook import make_file_frame, make_frame
from glassformer.pages.payload import make_page_payload
from glassformer.pages.write import make_html
from glassformer.runs.load import LoadedModel
from glassformer.tasks import Rule, Sequences, only, uniform

NOTEBOOK = "<!doctype html><meta charset=utf-8><title>notebook</title><p>above</p>{}<p>below</p>"
LABELS = ("<img/src=x/onerror=top.bad=1>", "</script><script>bad=1</script>", "\"'`&lt;", "a\\u2028b", "${1}")


@dataclass(frozen=True)
class Nasty(Rule):
    """<img src=x onerror="window.bad=1">: after a token comes </script><script>window.bad=1</script>."""

    high: int = 4
    name = "<b onclick=bad>nasty</b>"

    def start(self):
        return None

    def choose(self, state):
        return uniform(self.integers()) if state is None else only([state])

    def after(self, state, token):
        return (token + 1) % 5

    def tokens(self):
        return LABELS


@pytest.fixture(scope="module")
def nasty():
    """The page of a model whose every name and label tries to break out."""
    shape = make_reference_architecture(vocab=5, width=2, context=4)
    random = np.random.default_rng(0)
    params = {
        name: random.normal(size=one.shape).astype("float32") for name, one in list_parameters(shape).items()
    }
    loaded = LoadedModel(shape, params, Nasty(), Sequences(), "<script>bad=1</script>\u2028.safetensors")
    payload = make_page_payload(loaded, None, 1.0)
    return make_html(payload, payload["name"])


def unharmed(frame):
    """Nothing of the run's texts has become an element or has run; window.bad is not there."""
    frame.wait_for_function("() => window.glassformer !== undefined")
    frame.locator("section.panel").first.scroll_into_view_if_needed()
    frame.wait_for_selector("#panels svg")
    assert frame.evaluate("window.bad") is None
    assert frame.locator("img, [onclick], [onerror]").count() == 0
    assert frame.locator("script").count() == 2


def test_a_page_of_nasty_names_shows_them_as_texts(nasty, open_page):
    page = open_page(nasty)
    unharmed(page)
    assert "<img/src=x/onerror=top.bad=1>" in page.locator("#input").inner_text()
    for panel in page.locator("section.panel").all():
        panel.scroll_into_view_if_needed()
        panel.locator(".figure > *").first.wait_for()
    unharmed(page)


def test_a_page_of_nasty_names_in_a_notebook(nasty, open_page):
    page = open_page(NOTEBOOK.format(make_frame(nasty)))
    unharmed(page.frames[1])
    assert page.evaluate("window.bad") is None
    assert page.locator("p").all_inner_texts() == ["above", "below"]


def test_a_notebook_shows_the_page_live(small_run, open_page):
    shown = glassformer.page(small_run("lucky7"))._repr_html_()
    page = open_page(NOTEBOOK.format(shown))
    inner = page.frames[1]
    inner.wait_for_function("() => window.glassformer !== undefined")
    before = inner.evaluate("[...glassformer.viewOf().logits.data]")
    inner.evaluate("glassformer.store.set({input: '1 2 3'})")
    after = inner.evaluate("[...glassformer.viewOf().logits.data]")
    assert after != before
    assert inner.evaluate("glassformer.viewOf().labels") == ["1", "2", "3"]
    inner.wait_for_selector("#panels svg")


def test_a_folded_cell_draws_once_it_is_opened(small_run, open_page):
    shown = glassformer.page(small_run("lucky7"))._repr_html_()
    page = open_page(NOTEBOOK.format(f'<div id="cell" style="width: 1px">{shown}</div>'))
    inner = page.frames[1]
    inner.wait_for_function("() => window.glassformer !== undefined")
    inner.evaluate("document.querySelector('section.panel').scrollIntoView()")
    inner.wait_for_timeout(200)  # long enough for its observers, which draw what is in the window
    assert inner.locator("#panels svg").count() == 0
    page.evaluate("document.getElementById('cell').style.width = '900px'")
    inner.locator("section.panel").first.scroll_into_view_if_needed()
    inner.wait_for_selector("#panels svg")


def test_the_page_cannot_reach_the_notebook(small_run, open_page):
    page = open_page(NOTEBOOK.format(glassformer.page(small_run("lucky7"))._repr_html_()))
    assert (
        page.frames[1].evaluate("(() => { try { return parent.document.title; } catch { return null; } })()")
        is None
    )


def test_a_run_shows_its_page(small_run):
    folder = small_run("lucky7")
    assert read_result(folder)._repr_html_() is None
    glassformer.page(folder)
    assert read_result(folder)._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')


def test_a_page_that_is_gone_is_a_sentence(tmp_path):
    assert make_file_frame(tmp_path / "<b>.html") == f"<p>{tmp_path}/&lt;b&gt;.html is no longer there.</p>"
