"""Every picture that can be drawn, by number: the published order first, then what was never drawn before.

One registry for `glassformer draw`, `video`, `spectra` and `list figures`; nothing here needs matplotlib
before something is drawn.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glassformer.pictures.needs import (
    limit_tokens,
    require_attention,
    require_automaton,
    require_first_step,
    require_past,
    require_rule,
    require_saved_steps,
    require_scores,
    require_sums,
)
from glassformer.pictures.picture import Picture

if TYPE_CHECKING:
    from glassformer.pictures.measure.subject import Subject

FIGURES: tuple[Picture, ...] = (
    Picture("01", "architecture", "computation graph with shapes and parameter counts", "architecture"),
    Picture("02", "learning curve", "losses and rule error of every seed",
            "learning_curve", needs=(require_past,)),
    Picture("03", "training data", "sequences as cells: free, right, and where each answer comes from",
            "training_data", needs=(require_automaton,)),
    Picture("04", "generated sequences", "what the model writes before training and after",
            "generated", needs=(require_automaton, require_first_step)),
    Picture("05", "token embeddings", "tokens, positions and sums: every parameter, and as points",
            "embeddings"),
    Picture("06", "embedding scatter", "the same points, large", "embedding_scatter"),
    Picture("07", "output landscape", "what the head predicts at every final state", "output_landscape"),
    Picture("08", "Q K V maps", "the three matrices and what they do to the plane",
            "qkv_maps", needs=(require_attention,)),
    Picture("09", "Q K space", "all queries and keys together",
            "qk_space", needs=(require_attention, require_scores, limit_tokens(100))),
    Picture("10", "focused query", "one query's score over the plane of keys",
            "focused_query", needs=(require_attention, require_scores)),
    Picture("11", "landscape with values",
            "what the rest of the model predicts at every sum, with all values",
            "value_landscape", needs=(require_attention,)),
    Picture("12", "sequence embeddings", "one sequence: tokens, positions and sums over those of all pairs",
            "sequence_embeddings", needs=(require_automaton,)),
    Picture("13", "sequence attention", "three sequences: queries, keys, scores, attention",
            "sequence_attention", needs=(require_automaton, require_attention, require_scores)),
    Picture("14", "sequence values", "one sequence: attention, values and what they add up to",
            "sequence_values", needs=(require_automaton, require_attention)),
    Picture("15", "residual stream", "one sequence: from embedding to sum to final state, over the landscape",
            "residual_stream", needs=(require_automaton, require_attention)),
    Picture("16", "value demo 1", "where values, sums and final states lie on the maps",
            "value_demo", needs=(require_automaton, require_attention), options={"index": 0}),
    Picture("17", "value demo 2", "the same for a second sequence",
            "value_demo", needs=(require_automaton, require_attention), options={"index": 1}),
    Picture("18", "value demo 3", "the same for a third sequence",
            "value_demo", needs=(require_automaton, require_attention), options={"index": 2}),
    Picture("S1", "Q K V overview", "queries, keys and values: all pairs, by token and by position",
            "qkv_overview", needs=(require_attention,)),
    Picture("S2", "score blocks", "every query against every key, in blocks",
            "score_blocks", needs=(require_attention, require_scores, limit_tokens(40))),
    Picture("S3", "attention to probabilities",
            "attention, head input, logits and probabilities per position",
            "sequence_output", needs=(require_automaton, require_attention)),
    Picture("S4", "value arrows", "how each value moves the residual stream",
            "value_arrows", needs=(require_automaton, require_attention)),
    Picture("S5", "query gradients", "the direction in which each query's score grows",
            "query_gradients", needs=(require_attention, require_scores, limit_tokens(32))),
    Picture("S6", "frozen output", "what each message would do to one token's output",
            "frozen_output", needs=(require_automaton, require_attention, limit_tokens(64))),
    Picture("S7", "Q K V heatmaps", "queries, keys and values in every dimension",
            "qkv_heatmaps", needs=(require_attention,)),
    Picture("S8", "every parameter", "all stored arrays, every parameter once", "every_parameter"),
    Picture("F1", "hinges", "where each feed-forward unit switches on", "hinges"),
    Picture("F2", "units", "every weight of the feed-forward layer, and what each unit contributes", "units"),
    Picture("F3", "folded plane", "what the feed-forward layer does to the plane", "folded_plane"),
    Picture("F4", "head", "the head's directions and biases", "head"),
    Picture("A1", "algorithm", "the rule as steps, each with its measured fidelity",
            "algorithm", needs=(require_rule, require_attention)),
    Picture("A2", "causal tests", "what swapping, ablating and patching do to the answer",
            "causal_tests", needs=(require_rule, require_attention)),
    Picture("A3", "worked example", "one prediction, step by step",
            "worked_example", needs=(require_automaton, require_attention)),
)  # fmt: skip

PANELS: tuple[Picture, ...] = (
    Picture("P0", "poster", "all panels on one sheet, 54 cm wide",
            "whole", "poster", needs=(require_sums,)),
    Picture("P1", "big picture", "how the data flow, with the parameters of each stage",
            "big_picture", "panel"),
    Picture("P2", "digits", "token embeddings, and what attention passes on of each digit",
            "digits", "panel", needs=(require_sums,), reads="sums"),
    Picture("P3", "positions", "how positions are encoded: spiral, circle, rotation, slope or column weights",
            "positions", "panel", needs=(require_sums,), reads="sums"),
    Picture("P4", "norms", "what the norms do to the vectors",
            "norms", "panel", needs=(require_sums,), reads="sums"),
    Picture("P5", "routing", "where each answer digit attends, for one pair and on average",
            "routing", "panel", needs=(require_sums,), reads="sums"),
    Picture("P6", "bottleneck", "the few numbers that attention passes on, and the digit they decide",
            "bottleneck", "panel", needs=(require_sums,), reads="sums"),
    Picture("P7", "parameters", "every parameter by name and value", "parameters", "panel"),
    Picture("P8", "one addition", "one sum, digit by digit",
            "one_addition", "panel", needs=(require_sums,), reads="sums"),
    Picture("P9", "verdict", "what is proved, and the hardest pair",
            "verdict", "panel", needs=(require_sums,), reads="sums"),
)  # fmt: skip

SPECTRA: tuple[Picture, ...] = (
    Picture("S01", "heads", "effective rank of every head's QK and OV kernel, layers by heads",
            "heads", "spectrum"),
    Picture("S02", "asymmetry and copying",
            "how symmetric each QK kernel is, and how much each OV kernel copies",
            "heads", "spectrum", options={"about": "character"}),
    Picture("S03", "head of lowest rank", "one head's eigenvalues, magnitudes and energy",
            "head", "spectrum", options={"which": "lowest"}),
    Picture("S04", "head of median rank", "the same for the head of median rank",
            "head", "spectrum", options={"which": "median"}),
    Picture("S05", "head of highest rank", "the same for the head of highest rank",
            "head", "spectrum", options={"which": "highest"}),
    Picture("S06", "depth", "effective rank of every weight type over the layers", "depth", "spectrum"),
    Picture("S07", "depth against random", "the same relative to random matrices of the same shapes",
            "relative", "spectrum"),
    Picture("S08", "variance explained", "cumulative energy against the share of components",
            "variance", "spectrum"),
    Picture("S09", "components of 90 percent", "components that hold 90% of the energy, over the layers",
            "components", "spectrum"),
    Picture("S10", "singular values", "every spectrum against the edge of a random matrix",
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
    Picture("C03", "heads that changed", "how much each head's rank changed, layers by heads",
            "comparison_heads", "comparison"),
)  # fmt: skip

FILMS: tuple[Picture, ...] = (
    Picture("embeddings", "embeddings", "tokens, positions and their sums",
            "embeddings", "film", needs=(require_saved_steps,)),
    Picture("qkv", "queries, keys and values", "all token-position pairs after the three maps of each head",
            "qkv", "film", needs=(require_saved_steps, require_attention)),
    Picture("attention", "attention", "one sequence: queries and keys, scores and the attention map",
            "attention", "film", needs=(require_saved_steps, require_attention)),
    Picture("landscape", "output landscape",
            "what the head predicts at every final state, and where contexts end",
            "landscape", "film", needs=(require_saved_steps,)),
    Picture("residual", "residual stream",
            "one sequence: from embedding to sum to final state, and the answers",
            "residual", "film", needs=(require_saved_steps, require_attention)),
)  # fmt: skip

DRAWN = (*FIGURES, *PANELS)  # by `glassformer draw`, of a model
PICTURES = (*DRAWN, *SPECTRA, *COMPARISON, *FILMS)


def choose_usual_pictures(subject: "Subject") -> Sequence[Picture]:
    """What is drawn by default: a set by the family of the task, or whatever fits."""
    sets = {"figures": FIGURES, "panels": PANELS}
    return sets.get(subject.inputs.usual) or [picture for picture in DRAWN if not picture.fits(subject)]
