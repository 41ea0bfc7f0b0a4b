"""Our own models: what the lens reads is what the forward pass does, score by score."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from glassformer.core.atomic import write_arrays
from glassformer.core.errors import UserError
from glassformer.lens.adapt.own import is_own_model, open_own_checkpoint
from glassformer.lens.adapt.own_arrays import compute_effective_weights
from glassformer.lens.adapt.own_layout import make_own_layout
from glassformer.lens.matrix import read_map, read_vector, view_matrix
from glassformer.lens.read.checkpoint import Checkpoint
from glassformer.lens.read.tensor import make_memory_tensor
from glassformer.models.architecture import Architecture, Layer, make_reference_architecture
from glassformer.models.attention import MASKED, Attention, AttentionSite
from glassformer.models.feedforward import FeedForward
from glassformer.models.forward import list_parameters
from glassformer.models.head import TiedHead
from glassformer.models.model import Model
from glassformer.models.norm import FlatNorm, RMSNorm, SpiralNorm
from glassformer.models.ops_numpy import NumpyOps
from glassformer.models.position import CirclePosition
from glassformer.models.projection import FullProjection, RankOneProjection, RotatedProjection
from glassformer.models.relations import AlibiRelation, RopeRelation
from glassformer.runs.configurations import RULE_CONFIGURATIONS
from glassformer.runs.folder import open_run_folder
from glassformer.runs.load import load_model
from glassformer.runs.tree import to_tree
from glassformer.zoo import ZOO
from tests.models.relations import SpinRelation, WindowRelation

HELD = [name for name, entry in ZOO.items() if entry.build or entry.weights]
FLOAT32 = 2e-5  # of the largest score: a few roundings of single precision


def drawn(architecture, seed=0):
    random = np.random.default_rng(seed)
    sizes = {name: parameter.shape for name, parameter in list_parameters(architecture).items()}
    return Model(architecture, {name: random.normal(size=shape) for name, shape in sizes.items()})


def read(model):
    arrays = compute_effective_weights(model.architecture, model.params)
    tensors = {name: make_memory_tensor(name, array) for name, array in arrays.items()}
    return Checkpoint("own", "own", "glassformer", {}, tensors, ""), make_own_layout(
        model.architecture, arrays
    )


def compare_scores(model, checkpoint, layout):
    """Every head's scores and what attention writes, from the maps of the layout, against the trace."""
    places = min(6, model.architecture.context)
    tokens = np.random.default_rng(1).integers(0, model.architecture.vocab, (3, places))
    trace = model.trace(tokens)
    for index, layer in enumerate(model.architecture.layers):
        name = "" if len(model.architecture.layers) == 1 else f"layer{index}."
        x = trace[f"{name}attn.input"].astype(np.float64)
        heads = [head for head in layout.attention if head.layer == index]
        assert len(heads) == layer.attention.heads
        written = 0.0
        for head in heads:
            found = scores(checkpoint, head, layer.attention, x, model.params)
            expected = trace[f"{name}attn.scores.{head.index}"]
            seen = expected > MASKED / 2
            most = np.abs(expected[seen]).max()
            np.testing.assert_allclose(found[seen], expected[seen], atol=FLOAT32 * (1 + most))
            ov = view_matrix(checkpoint, head.output).dense() @ read_map(checkpoint, head.value)
            written = written + trace[f"{name}attn.weights.{head.index}"] @ x @ ov.T
        if f"{name}attn.v.bias" not in checkpoint.tensors:
            bias = checkpoint.tensors.get(f"{name}attn.out.bias")
            shift = bias.vector() if bias else 0.0
            moved = trace[f"{name}attn.output"]
            np.testing.assert_allclose(written + shift, moved, atol=FLOAT32 * (1 + np.abs(moved).max()))


def scores(checkpoint, head, attention, x, params):
    def side(stack, bias, gain, norm):
        y = x @ read_map(checkpoint, stack).T + (0.0 if bias is None else read_vector(checkpoint, bias))
        if gain is not None:
            y = y / np.sqrt((y**2).mean(-1, keepdims=True) + norm.eps) * read_vector(checkpoint, gain)
        return turned(y, head.rope)

    query = side(head.query, head.query_bias, head.query_norm, attention.qk_norm)
    key = side(head.key, head.key_bias, head.key_norm, attention.k_norm or attention.qk_norm)
    found = query @ key.swapaxes(1, 2) * attention.score_scale
    here = AttentionSite(NumpyOps(), params, "attn", x.T, range(x.shape[1]))
    return found + attention.shift(here, head.index, x.shape[1])


def turned(y, rope):
    """Pairs (2i, 2i + 1) by rates[i] a place."""
    if rope is None:
        return y
    assert (rope.pairs, rope.first) == ("adjacent", 0)
    turns = np.exp(1j * np.arange(y.shape[1])[:, None] * np.array(rope.rates))
    count = 2 * len(rope.rates)
    plane = (y[..., :count:2] + 1j * y[..., 1:count:2]) * turns
    out = y.copy()
    out[..., :count:2], out[..., 1:count:2] = plane.real, plane.imag
    return out


@pytest.mark.parametrize("name", HELD)
def test_every_model_of_the_zoo_scores_as_its_maps_say(name):
    checkpoint, layout = open_own_checkpoint(name)
    compare_scores(load_model(name), checkpoint, layout)
    assert layout.heads and layout.width == ZOO[name].architecture.width
    assert all(view_matrix(checkpoint, weight.view).dense().any() for weight in layout.weights)


@pytest.mark.parametrize("name", list(RULE_CONFIGURATIONS))
def test_every_rule_model_is_bilinear(name):
    """No norm, no turning, no bias: a score is x'Ay / sqrt(head size)."""
    model = drawn(RULE_CONFIGURATIONS[name].architecture)
    checkpoint, layout = read(model)
    compare_scores(model, checkpoint, layout)
    trace = model.trace(np.zeros(3, int))
    head, x = layout.attention[0], trace["attn.input"].astype(np.float64)
    kernel = read_map(checkpoint, head.query).T @ read_map(checkpoint, head.key)
    assert kernel.shape == (model.architecture.width,) * 2
    expected = x[2] @ kernel @ x[1] / math.sqrt(layout.head_dim)
    np.testing.assert_allclose(trace["attn.scores.0"][2, 1], expected, rtol=1e-4)


def everything():
    """Shared keys, spans of the stream, both norms, turns, a turned query weight, biases, a tied head."""
    attention = Attention(
        heads=4,
        kv_heads=2,
        head_size=4,
        value_size=2,
        q=FullProjection(reads=(1, 6), bias=True),
        k=FullProjection(writes=(0, 4)),
        v=FullProjection(reads=(0, 3)),
        out=RankOneProjection(writes=(2, 5)),
        relation=RopeRelation(frequencies=(0.5,)),
        qk_norm=RMSNorm(),
        k_norm=FlatNorm(factor=2.0),
    )
    second = Attention(
        heads=2, head_size=3, k=RotatedProjection(of="layer1.attn.q.weight"), relation=AlibiRelation()
    )
    gated = FeedForward(
        hidden=5, bend="silu", gate=FullProjection(), up=FullProjection(bias=True), down=FullProjection()
    )
    return Architecture(
        vocab=5,
        context=6,
        width=6,
        position=CirclePosition(period=4),
        position_dims=2,
        layers=(
            Layer(attention, gated, attention_norm=RMSNorm(), feedforward_norm=SpiralNorm()),
            Layer(second, None),
        ),
        final_norm=RMSNorm(),
        head=TiedHead(FullProjection()),
        precision="float64",
    )


def test_parts_of_every_kind_are_written_out():
    model = drawn(everything())
    checkpoint, layout = read(model)
    compare_scores(model, checkpoint, layout)
    assert [head.kv_index for head in layout.attention] == [0, 0, 1, 1, 0, 1]
    assert layout.notes == (
        "there is no W_O: the heads' outputs stand side by side in the stream",
        "ALiBi lowers scores by distance, which is not part of the QK kernels",
        "the unembedding is made of the token table W_E",
    )
    trace = model.trace(np.arange(5))
    weights = {(weight.type, weight.layer): weight for weight in layout.weights}
    for kind, name in (("W_up", "up"), ("W_gate", "gate")):
        matrix = view_matrix(checkpoint, weights[kind, 0].view).dense()
        bias = checkpoint.tensors[f"layer0.ff.{name}.bias"].vector() if name == "up" else 0.0
        np.testing.assert_allclose(trace["layer0.ff.input"] @ matrix.T + bias, trace[f"layer0.ff.{name}"])
    down = view_matrix(checkpoint, weights["W_down", 0].view).dense()
    np.testing.assert_allclose(trace["layer0.ff.hidden"] @ down.T, trace["layer0.ff.output"])
    head = view_matrix(checkpoint, weights["W_U", None].view).dense()
    np.testing.assert_allclose(trace["final"] @ head.T, trace["logits"])
    token, place = (view_matrix(checkpoint, weights[kind, None].view).dense() for kind in ("W_E", "W_pos"))
    np.testing.assert_allclose((token[:, :5] + place[:, :5]).T, trace["embedded"])


def test_relations_of_ones_own_are_turned_or_noted():
    window, spin = (
        read(drawn(Architecture(5, 6, 4, layers=(Layer(Attention(head_size=4, relation=one)),))))[1]
        for one in (WindowRelation(), SpinRelation())
    )
    assert "window changes scores by distance, which is not part of the QK kernels" in window.notes
    assert window.attention[0].rope is None
    assert spin.attention[0].rope.rates == (0.3, 0.3)


def test_gains_before_attention_are_folded():
    model = drawn(everything())
    checkpoint, layout = read(model)
    gain = model.params["layer0.attn_norm.gain"]
    raw, folded = (read_map(checkpoint, layout.attention[0].key, is_folded) for is_folded in (False, True))
    np.testing.assert_allclose(folded, raw * gain)


def test_other_heads_do_not_pass():
    model = drawn(everything())
    checkpoint, layout = read(model)
    first, second, *others = layout.attention
    swapped = (replace(first, query=second.query), replace(second, query=first.query), *others)
    with pytest.raises(AssertionError):
        compare_scores(model, checkpoint, replace(layout, attention=swapped))
    unturned = tuple(replace(head, rope=None) for head in layout.attention)
    with pytest.raises(AssertionError):
        compare_scores(model, checkpoint, replace(layout, attention=unturned))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A folder with a run called mine."""
    monkeypatch.chdir(tmp_path)
    config = RULE_CONFIGURATIONS["plus_last_even"]
    model = drawn(config.architecture)
    about = {
        "task": to_tree(config.task),
        "data": to_tree(config.data),
        "model": to_tree(config.architecture),
    }
    open_run_folder(tmp_path / "runs" / "mine", config)
    write_arrays(tmp_path / "runs" / "mine" / "params.safetensors", model.params, about)
    return tmp_path


def test_runs_and_files_are_ours(run):
    for target in ("mine", "runs/mine", str(run / "runs" / "mine"), "runs/mine/params.safetensors", "hand-4"):
        assert is_own_model(target)
        assert open_own_checkpoint(target)[1].layers == 1
    names = [open_own_checkpoint(target)[0].fingerprint for target in ("mine", "runs/mine", "hand-4")]
    assert names[0] == names[1] != names[2]


def test_other_targets_are_not_ours(run):
    from safetensors.numpy import save_file

    save_file({"w": np.ones((2, 2))}, run / "other.safetensors", {"format": "pt"})
    (run / "short.safetensors").write_bytes(b"\x10")
    (run / "lying.safetensors").write_bytes((2**62).to_bytes(8, "little"))
    (run / "list.safetensors").write_bytes((2).to_bytes(8, "little") + b"[]")
    (run / "empty").mkdir()
    others = ("other", "short", "lying", "list", "none")
    targets = [f"{name}.safetensors" for name in others] + ["empty", "org/name", "nobody", "model.gguf"]
    assert not any(is_own_model(target) for target in targets)


def test_a_model_without_weights_is_one_sentence():
    name = next(name for name in ZOO if name not in HELD)
    with pytest.raises(UserError, match=f"'{name}' has no weights here yet"):
        open_own_checkpoint(name)


def test_asking_whether_a_path_is_ours_imports_no_model():
    code = "import sys; from glassformer.lens.adapt.own import is_own_model; assert not is_own_model('org/name'); "
    code += "assert not [name for name in sys.modules if name.startswith(('glassformer.models', 'jax.'))]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_reference_model_has_no_output_projection():
    notes = read(drawn(make_reference_architecture(vocab=5)))[1].notes
    assert notes == ("there is no W_O: the heads' outputs stand side by side in the stream",)
