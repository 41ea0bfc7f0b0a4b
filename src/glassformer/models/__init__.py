"""What computes: parts, the forward pass, the counts. NumPy and JAX run the same code."""

DOORS: dict[str, str] = {  # module to the names that other packages may import
    "adding": (
        "SumAnswer choose_sum_digits format_in_base label_token read_answer_number require_summand write_sum"
    ),
    "architecture": "Architecture FixedEntry Layer Tie make_reference_architecture",
    "attention": "Attention AttentionSite Record",
    "blocks": "Blocks apply_blockwise_linear find_lone_lookup map_blocks split_position_factor to_dense",
    "bounded": (
        "BoundedArray add_rounding_bounds bound_constant bound_coordinate bound_range scale_parts "
        "sum_magnitudes to_bounded"
    ),
    "constants": "count_constants count_fixed_nonzero list_constants",
    "count": (
        "DEAD_TOLERANCE PLAIN ParameterCounts RANK_TOLERANCE count_by_part count_learned "
        "count_parameters count_stored_bits find_routing mark_free_entries name_chosen_entries"
    ),
    "elementary": "EXP_UNITS compute_one cos exp find_arcsine raise_number round_once sin take_logarithm",
    "feedforward": "FeedForward",
    "float_format": "FloatFormat LEAST OWN OWN_STEPS widen_own",
    "forward": (
        "compute_logit_blocks embed_tokens finish_layer format_layer_prefix forward ignore_record "
        "list_all_parameters list_parameters read_out_logits run_layer untie_parameters"
    ),
    "generate": "write_greedy write_sampled",
    "head": "CLOSED Head LinearHead LowestHead ParabolicHead TiedHead",
    "lengths": "ENDS is_any_length lengthen_adder lengthen_architecture",
    "mantissa": "count_mantissa_bits round_mantissa",
    "margins": "measure_margins measure_token_margins",
    "model": "Model check_params to_float64",
    "norm": "FlatNorm NoNorm Norm RMSNorm SpiralNorm",
    "ops": "Ops Value",
    "ops_bounded": "BoundedOps bound_power",
    "ops_jax": "JaxOps",
    "ops_lanes": "LaneOps make_lanes",
    "ops_numpy": "NumpyOps",
    "ops_rows": "RowOps split_dimensions",
    "parameter": "Parameter Parameters",
    "part": "Part",
    "position": "CirclePosition LearnedPosition NoPosition Position SpiralPosition",
    "program": "Program trace_programs trace_whole",
    "projection": (
        "AnyProjection ConstantProjection DirectionProjection FullProjection IdentityProjection "
        "MirroredProjection PatternProjection RankOneProjection RepeatedProjection RotatedProjection "
        "SparseProjection SpreadProjection ZeroProjection choose_dimension_range fetch_parameter"
    ),
    "relation": "MASKED RelationPart",
    "relations": "AlibiRelation ColumnRelation LowColumnRelation NoRelation RopeRelation",
    "token": "ArcTable LearnedTable QuadraticTable RankOneTable SparseTable",
}
