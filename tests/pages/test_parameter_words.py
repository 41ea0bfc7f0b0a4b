"""A parameter says what it reaches."""

from glassformer.models.forward import list_parameters
from glassformer.pages.payload import make_page_payload
from glassformer.runs.load import load_model


def test_a_parameter_says_what_it_reaches():
    page = make_page_payload(load_model("microadder-57"))
    parts = {one["name"]: one for one in page["model"]["parameters"]}
    assert list(parts) == list(list_parameters(load_model("microadder-57").architecture))
    assert parts["attn.q.angle"]["acts"][0] == "attn.q" and parts["attn.q.angle"]["acts"][-1] == "logits"
    assert "embedded" not in parts["head.weight"]["acts"] and "attn.v" in parts["head.weight"]["acts"]
    assert parts["head.weight"]["tied"] == ["attn.v.weight", "ff.down.weight"]
    assert [name for name, one in parts.items() if one["dead"]] == ["position.z_hi"]
