"""Interventions: change one thing inside the model, and see whether the answers change as the rule says.

`4 1 + 4 6 9 5 +` asks for 6, whose position is the source. With 8 there the model must say 8; with all
attention turned away from it, the model must lose the answer, if that is where it reads it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from glassformer.core.share import MeasuredShare
from glassformer.models.attention import AttentionSite, Record
from glassformer.models.blocks import to_dense
from glassformer.models.forward import (
    embed_tokens,
    finish_layer,
    format_layer_prefix,
    ignore_record,
    read_out_logits,
    run_layer,
    untie_parameters,
)
from glassformer.models.model import Model
from glassformer.models.ops import Value
from glassformer.models.ops_numpy import NumpyOps
from glassformer.pictures.measure.subject import Subject

Weights = Float[np.ndarray, "head trial pos"]  # of the last position


@dataclass(frozen=True, eq=False)
class Patch:
    """One change to many trials, and the answers that count as following it."""

    name: str
    done: str  # what is changed
    counted: str  # which answers count
    which: Int[np.ndarray, " chosen"]  # the trials that it can be done to
    contexts: Int[np.ndarray, "trial pos"]
    target: Bool[np.ndarray, "trial tok"]
    weights: Weights | None = None  # attention of the last position, in place of the model's own
    embedded: Float[np.ndarray, "trial pos dim"] | None = None  # what enters, in place of the model's own
    marked: Int[np.ndarray, " trial"] | None = None  # the position that the change is about


@dataclass(frozen=True, eq=False)
class PatchOutcome:
    """What came of a patch: the share of answers in its target, before and after."""

    patch: Patch
    before: MeasuredShare
    after: MeasuredShare
    chance: float  # share of tokens that the target allows, on average
    old_answers: Int[np.ndarray, " trial"]
    answers: Int[np.ndarray, " trial"]


def compute_patched_logits(
    model: Model,
    contexts: Int[np.ndarray, "trial pos"],
    weights: Weights | None = None,
    embedded: Float[np.ndarray, "trial pos dim"] | None = None,
    record: Record = ignore_record,
) -> Float[np.ndarray, "trial tok"]:
    """Logits after the last position, with attention weights there or embeddings put in by hand.

    `record` is called with `weights.0`, ..., the weights of each head that were used, `1 pos trial`.
    """
    shape = model.architecture
    ops, params = NumpyOps(shape.precision), untie_parameters(shape, model.params)
    table, stream = embed_tokens(shape, ops, params, np.asarray(contexts).T)
    if embedded is not None:
        stream = np.ascontiguousarray(ops.array(embedded).transpose(2, 1, 0))  # dim pos trial
    for index, layer in enumerate(shape.layers[:-1]):
        stream = run_layer(
            layer, ops, params, format_layer_prefix(shape, index), stream, stream.shape[1], ignore_record
        )
    name, layer = format_layer_prefix(shape, len(shape.layers) - 1), shape.layers[-1]
    moved = None
    if layer.attention:
        normed = layer.attention_norm(ops, params, f"{name}attn_norm", stream)
        places = normed.shape[1]
        here = AttentionSite(ops, params, f"{name}attn", normed, range(places - 1, places))
        moved = _attend_last_position(model, here, weights, record)
    last = finish_layer(layer, ops, params, name, stream[:, stream.shape[1] - 1 :], moved, ignore_record)
    logits = to_dense(read_out_logits(shape, ops, params, last, table, ignore_record))
    return np.asarray(logits[:, 0].T)


def _attend_last_position(
    model: Model, here: AttentionSite, weights: Weights | None, record: Record
) -> Value:
    """What attention moves to the last position, by its own weights or by given ones."""
    attention = model.architecture.layers[-1].attention
    assert attention is not None
    queries, keys, values = attention.project(here)
    mixes: list[Value] = []
    for head in range(attention.heads):
        if weights is None:
            scores = attention.scores(here, head, *attention.meet(here, head, queries, keys))
            used = here.ops.softmax(scores, extra=attention.extra)
        else:
            used = here.ops.array(weights[head].T[None])  # 1 key trial
        record(f"weights.{head}", used)
        mixes.append(here.ops.mix(used, attention.carried(here, head, values)))
    return attention.write(here, mixes, ignore_record)


def run_patch(subject: Subject, patch: Patch) -> PatchOutcome:
    """Run a patch."""
    old = collect_trial_answers(subject)[patch.which]
    answers = compute_patched_logits(subject.model, patch.contexts, patch.weights, patch.embedded).argmax(1)
    rows = np.arange(len(old))
    before, after = (
        MeasuredShare.of(int(patch.target[rows, said].sum()), len(rows)) for said in (old, answers)
    )
    return PatchOutcome(patch, before, after, float(patch.target.mean()), old, answers)


def collect_trial_answers(subject: Subject) -> Int[np.ndarray, " trial"]:
    return np.asarray(subject.trial_traces["logits"][:, -1].argmax(1))


def collect_trial_weights(subject: Subject) -> Weights:
    """The model's attention at the last position of every trial."""
    names = [f"{subject.layer}attn.weights.{head}" for head in range(subject.heads)]
    return np.stack([subject.trial_traces[name][:, -1] for name in names])
