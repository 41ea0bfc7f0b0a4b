"""Every figure of a rule model, by number: the published order first, then what was never drawn before."""

from glassformer.draw.picture import Picture

PICTURES: tuple[Picture, ...] = (
    Picture("01", "architecture", "computation graph with shapes and parameter counts", "architecture"),
    Picture("02", "learning curve", "losses and rule error of every seed", "learning_curve"),
    Picture(
        "03",
        "training data",
        "sequences as cells: free, right, and where each answer comes from",
        "training_data",
    ),
    Picture(
        "04",
        "generated sequences",
        "what the model writes before training and after",
        "generated",
    ),
    Picture(
        "05", "token embeddings", "tokens, positions and sums: every number, and as points", "embeddings"
    ),
    Picture("06", "embedding scatter", "the same points, large", "embedding_scatter"),
    Picture("07", "output landscape", "what the head says at every final state", "output_landscape"),
    Picture("08", "Q K V maps", "the three matrices and what they do to the plane", "qkv_maps"),
    Picture("09", "Q K space", "all queries and keys together", "qk_space"),
    Picture("10", "focused query", "one query's score over the plane of keys", "focused_query"),
    Picture(
        "11",
        "landscape with values",
        "what the rest of the model says at every sum, with all values",
        "value_landscape",
    ),
    Picture(
        "12",
        "sequence embeddings",
        "one sequence: tokens, places and sums over the cloud of all",
        "sequence_embeddings",
    ),
    Picture(
        "13", "sequence attention", "three sequences: queries, keys, scores, attention", "sequence_attention"
    ),
    Picture(
        "14", "sequence values", "one sequence: attention, values and what they add up to", "sequence_values"
    ),
    Picture(
        "15",
        "residual stream",
        "one sequence: from embedding to sum to final state, over the landscape",
        "residual_stream",
    ),
    Picture(
        "16",
        "value demo 1",
        "where values, sums and final states sit on the maps",
        "value_demo",
        {"index": 0},
    ),
    Picture("17", "value demo 2", "the same for a second sequence", "value_demo", {"index": 1}),
    Picture("18", "value demo 3", "the same for a third sequence", "value_demo", {"index": 2}),
    Picture(
        "S1", "Q K V overview", "queries, keys and values: all pairs, by token and by place", "qkv_overview"
    ),
    Picture("S2", "score blocks", "every query against every key, in blocks", "score_blocks"),
    Picture(
        "S3",
        "attention to probabilities",
        "attention, head input, logits and probabilities per place",
        "sequence_output",
    ),
    Picture("S4", "value arrows", "what each value moves in the stream", "value_arrows"),
    Picture("S5", "query gradients", "the direction in which each query's score grows", "query_gradients"),
    Picture("S6", "frozen output", "what each message would do to one token's output", "frozen_output"),
    Picture("S7", "Q K V heatmaps", "queries, keys and values in every dimension", "qkv_heatmaps"),
    Picture("S8", "every parameter", "all stored arrays, each number once", "every_parameter"),
    Picture("F1", "hinges", "where each feed-forward unit switches on", "hinges"),
    Picture("F2", "units", "every weight of the feed-forward layer, and what each unit contributes", "units"),
    Picture("F3", "folded plane", "what the feed-forward layer does to the plane", "folded_plane"),
    Picture("F4", "head", "the head's directions and biases", "head"),
    Picture("A1", "algorithm", "the rule as steps, each with its measured fidelity", "algorithm"),
    Picture("A2", "causal tests", "what swapping, ablating and patching do to the answer", "causal_tests"),
    Picture("A3", "worked example", "one prediction, step by step", "worked_example"),
)
