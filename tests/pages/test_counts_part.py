"""Dead numbers are those of count."""

from glassformer.pages.counts_part import make_counts_part
from glassformer.runs.load import load_model


def test_dead_numbers_are_those_of_count():
    loaded = load_model("nanogpt-58")
    found = make_counts_part(loaded, loaded.task)
    assert set(found.dead) >= {"attn.q.angle", "attn.q.scale", "attn.k.weight", "attn.v.write[3]"}
    assert (found.unique, found.nonzero, found.rank) == (58, 39, None)
