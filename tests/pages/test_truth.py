"""A page claims nothing that is not known of the very numbers it shows: changed weights, ties, open proofs."""

import pytest

from glassformer.core.atomic import read_arrays, write_arrays
from glassformer.pages.payload import make_page_payload
from glassformer.runs.load import load_model

from .pages import SHOWN, page_of, payload


def test_weights_changed_since_the_proof_are_not_said_to_be_proved(small_run):
    """Not even if the hardest context keeps its margin: the change is to a token that it lacks."""
    folder = small_run("plus_last_even")
    params, about = read_arrays(folder / "params.safetensors")
    before = payload("plus_last_even")
    absent = next(
        token for token in range(10) if str(token) not in before["proof"]["hardest"]["input"].split()
    )
    params["token.weight"][absent] *= -3
    write_arrays(folder / "params.safetensors", params, about)
    after = make_page_payload(load_model(folder), folder)
    assert (before["proof"]["verdict"], after["proof"]["verdict"]) == ("proved", "refuted")
    assert after["proof"]["source"] == "a proof made for this page"
    assert before["measures"] and after["measures"] == []  # those too were of other weights


@pytest.mark.parametrize("verdict", ["undecided", "refuted"])
def test_only_a_proof_speaks_of_all_inputs(open_page, verdict):
    proof = payload("microadder-57")["proof"] | {"verdict": verdict, "reason": "time is up"}
    page = open_page(page_of("microadder-57", proof=proof))
    badge = page.inner_text("#badge")
    assert badge.splitlines()[1] == ("Undecided" if verdict == "undecided" else "Refuted")
    assert "Proved" not in badge and "on all" not in badge
    page.locator("#panel-proof").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('#panel-proof[data-draws]') !== null")
    assert "over all inputs" not in page.locator("#panel-proof figure").text_content()
    assert "of all inputs" not in page.locator("#panel-proof figure").text_content()


def test_a_tie_is_said_to_be_one(open_page):
    """The first of the largest is right, but no more likely than a token that is not allowed."""
    example = {"input": "4 7 +", "about": "counterexample", "margin": 0.0}
    example |= {"expected": "4", "got": "4", "right": False}
    proof = payload("plus_last_even")["proof"] | {"verdict": "refuted", "counterexample": example}
    page = open_page(page_of("plus_last_even", proof=proof))
    assert "after 4 7 + a token that is not allowed is as likely as 4" in page.inner_text("#badge")
    page.evaluate("""() => { const { lab, store } = glassformer, { data } = lab.paramsOf(store.get())["head.weight"];
      data.fill(0); lab.paramsOf(store.get())["head.bias"].data.fill(0); store.set({ input: "0 +" }); }""")
    page.wait_for_function("() => document.querySelector('#answer').textContent.includes('is as likely')")
    assert "must be" not in page.inner_text("#answer")


def test_a_link_cannot_claim_a_checkpoint_of_another_seed(open_page):
    best = payload("plus_last_even")["population"]["best_seed"]
    page = open_page(page_of("plus_last_even"), hash=f"seed={best}")
    assert page.evaluate(f"{SHOWN}.seed") is None and "not the one shown" not in page.inner_text("#badge")
    page = open_page(page_of("plus_last_even"), hash="seed=2&step=900")
    assert page.evaluate(f"[{SHOWN}.seed, {SHOWN}.step]") == [2, None]
    assert "step" not in page.inner_text("#header .changed")


def test_the_dead_are_counted_one_by_one(open_page):
    """An array that is dead as a whole is as many numbers as it has."""
    model = payload("nanogpt-58")["model"]
    sizes = {one["name"]: one["size"] for one in model["parameters"]}
    count = sum(sizes.get(name, 1) for name in model["counts"]["dead"])
    assert count > len(model["counts"]["dead"])
    page = open_page(page_of("nanogpt-58"))
    assert f"{count}dead" in "".join(page.locator("#header .chips").text_content().split())
