"""Every picture that can be drawn, by number: the published order first, then what was never drawn before.

One registry for `glassformer draw`, `video`, `spectra` and `list figures`; nothing here needs matplotlib
before something is drawn.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glassformer.draw.needs import (
    attention,
    before,
    few_tokens,
    past,
    rule,
    saved_steps,
    scores,
    strings,
    sums,
)
from glassformer.draw.picture import Picture

if TYPE_CHECKING:
    from glassformer.draw.measure.subject import Subject

FIGURES: tuple[Picture, ...] = (
    Picture("01", "architecture", "computation graph with shapes and parameter counts", "architecture"),
    Picture("02", "learning curve", "losses and rule error of every seed", "learning_curve", needs=(past,)),
    Picture("03", "training data", "sequences as cells: free, right, and where each answer comes from",
            "training_data", needs=(strings,)),
    Picture("04", "generated sequences", "what the model writes before training and after",
            "generated", needs=(strings, before)),
    Picture("05", "token embeddings", "tokens, positions and sums: every number, and as points",
            "embeddings"),
    Picture("06", "embedding scatter", "the same points, large", "embedding_scatter"),
    Picture("07", "output landscape", "what the head says at every final state", "output_landscape"),
    Picture("08", "Q K V maps", "the three matrices and what they do to the plane",
            "qkv_maps", needs=(attention,)),
    Picture("09", "Q K space", "all queries and keys together",
            "qk_space", needs=(attention, scores, few_tokens(100))),
    Picture("10", "focused query", "one query's score over the plane of keys",
            "focused_query", needs=(attention, scores)),
    Picture("11", "landscape with values", "what the rest of the model says at every sum, with all values",
            "value_landscape", needs=(attention,)),
    Picture("12", "sequence embeddings", "one sequence: tokens, places and sums over the cloud of all",
            "sequence_embeddings", needs=(strings,)),
    Picture("13", "sequence attention", "three sequences: queries, keys, scores, attention",
            "sequence_attention", needs=(strings, attention, scores)),
    Picture("14", "sequence values", "one sequence: attention, values and what they add up to",
            "sequence_values", needs=(strings, attention)),
    Picture("15", "residual stream", "one sequence: from embedding to sum to final state, over the landscape",
            "residual_stream", needs=(strings, attention)),
    Picture("16", "value demo 1", "where values, sums and final states sit on the maps",
            "value_demo", needs=(strings, attention), options={"index": 0}),
    Picture("17", "value demo 2", "the same for a second sequence",
            "value_demo", needs=(strings, attention), options={"index": 1}),
    Picture("18", "value demo 3", "the same for a third sequence",
            "value_demo", needs=(strings, attention), options={"index": 2}),
    Picture("S1", "Q K V overview", "queries, keys and values: all pairs, by token and by place",
            "qkv_overview", needs=(attention,)),
    Picture("S2", "score blocks", "every query against every key, in blocks",
            "score_blocks", needs=(attention, scores, few_tokens(40))),
    Picture("S3", "attention to probabilities", "attention, head input, logits and probabilities per place",
            "sequence_output", needs=(strings, attention)),
    Picture("S4", "value arrows", "what each value moves in the stream",
            "value_arrows", needs=(strings, attention)),
    Picture("S5", "query gradients", "the direction in which each query's score grows",
            "query_gradients", needs=(attention, scores, few_tokens(32))),
    Picture("S6", "frozen output", "what each message would do to one token's output",
            "frozen_output", needs=(strings, attention, few_tokens(64))),
    Picture("S7", "Q K V heatmaps", "queries, keys and values in every dimension",
            "qkv_heatmaps", needs=(attention,)),
    Picture("S8", "every parameter", "all stored arrays, each number once", "every_parameter"),
    Picture("F1", "hinges", "where each feed-forward unit switches on", "hinges"),
    Picture("F2", "units", "every weight of the feed-forward layer, and what each unit contributes", "units"),
    Picture("F3", "folded plane", "what the feed-forward layer does to the plane", "folded_plane"),
    Picture("F4", "head", "the head's directions and biases", "head"),
    Picture("A1", "algorithm", "the rule as steps, each with its measured fidelity",
            "algorithm", needs=(rule, attention)),
    Picture("A2", "causal tests", "what swapping, ablating and patching do to the answer",
            "causal_tests", needs=(rule, attention)),
    Picture("A3", "worked example", "one prediction, step by step",
            "worked_example", needs=(strings, attention)),
)  # fmt: skip

PANELS: tuple[Picture, ...] = (
    Picture("P0", "poster", "all nine panels on one sheet, 54 by 38.2 cm", "whole", "poster", needs=(sums,)),
    Picture("P1", "big picture", "the way of the data, with the numbers spent at each stage",
            "big_picture", "panel"),
    Picture("P2", "digits", "token embeddings, and what attention carries of each digit",
            "digits", "panel", needs=(sums,), reads="sums"),
    Picture("P3", "places", "how the model knows places: spiral, circle, rotation or slope",
            "places", "panel", needs=(sums,), reads="sums"),
    Picture("P4", "norms", "what the norms do to the vectors", "norms", "panel", needs=(sums,), reads="sums"),
    Picture("P5", "routing", "where each answer digit really looks, for a pair and on average",
            "routing", "panel", needs=(sums,), reads="sums"),
    Picture("P6", "bottleneck", "the few numbers that attention hands on, and the digit they decide",
            "bottleneck", "panel", needs=(sums,), reads="sums"),
    Picture("P7", "parameters", "every parameter by name and value", "parameters", "panel"),
    Picture("P8", "one addition", "one sum, digit by digit",
            "one_addition", "panel", needs=(sums,), reads="sums"),
    Picture("P9", "verdict", "what is proved, and the worst pair of all",
            "verdict", "panel", needs=(sums,), reads="sums"),
)  # fmt: skip

SPECTRA: tuple[Picture, ...] = (
    Picture("S01", "heads", "effective rank of every head's QK and OV kernel, layers by heads",
            "heads", "spectrum"),
    Picture("S02", "asymmetry and copying",
            "how symmetric each QK kernel is, and how much each OV kernel copies",
            "heads", "spectrum", options={"about": "character"}),
    Picture("S03", "head of lowest rank", "one head's eigenvalues, magnitudes and energy",
            "head", "spectrum", options={"which": "lowest"}),
    Picture("S04", "head of median rank", "the same of the head in the middle",
            "head", "spectrum", options={"which": "median"}),
    Picture("S05", "head of highest rank", "the same of the head of highest rank",
            "head", "spectrum", options={"which": "highest"}),
    Picture("S06", "depth", "effective rank of every weight type over the layers", "depth", "spectrum"),
    Picture("S07", "depth against random", "the same as shares of random matrices of their shapes",
            "relative", "spectrum"),
    Picture("S08", "variance explained", "energy against the share of components", "variance", "spectrum"),
    Picture("S09", "components of 90 percent", "components that hold 90% of the energy, over the layers",
            "components", "spectrum"),
    Picture("S10", "singular values", "every spectrum against the edge of a random one",
            "spectra", "spectrum"),
    Picture("S11", "similarity of layers", "leading directions, layer against layer",
            "similarity", "spectrum"),
    Picture("S12", "alignment", "leading directions of two types within a layer", "alignment", "spectrum"),
    Picture("S13", "composition", "which heads read what others write", "composition", "spectrum"),
    Picture("S14", "treatments", "raw ranks against treated ones, head by head", "treatments", "spectrum"),
    Picture("S15", "biases", "the four terms of the scores, over the layers", "biases", "spectrum"),
)  # fmt: skip

COMPARISON: tuple[Picture, ...] = (
    Picture("C01", "depth of both", "effective rank of every weight type, both models",
            "comparison_depth", "comparison"),
    Picture("C02", "what changed", "size and rank of the change over depth",
            "comparison_change", "comparison"),
    Picture("C03", "heads that changed", "how much each head's rank moved, layers by heads",
            "comparison_heads", "comparison"),
)  # fmt: skip

FILMS: tuple[Picture, ...] = (
    Picture("embeddings", "embeddings", "tokens, positions and their sums",
            "embeddings", "film", needs=(saved_steps,)),
    Picture("qkv", "queries, keys and values", "all token-position pairs after the three maps of each head",
            "qkv", "film", needs=(saved_steps, attention)),
    Picture("attention", "attention", "one sequence: queries and keys, scores and the attention map",
            "attention", "film", needs=(saved_steps, attention)),
    Picture("landscape", "output landscape",
            "what the head says at every final state, and where contexts end",
            "landscape", "film", needs=(saved_steps,)),
    Picture("residual", "residual stream",
            "one sequence: from embedding to sum to final state, and the answers",
            "residual", "film", needs=(saved_steps, attention)),
)  # fmt: skip

DRAWN = (*FIGURES, *PANELS)  # by `glassformer draw`, of a model
PICTURES = (*DRAWN, *SPECTRA, *COMPARISON, *FILMS)


def usual_pictures(subject: "Subject") -> Sequence[Picture]:
    """What is drawn where nothing is said: a set by the family of the task, or whatever fits."""
    sets = {"figures": FIGURES, "panels": PANELS}
    return sets.get(subject.inputs.usual) or [picture for picture in DRAWN if not picture.fits(subject)]
