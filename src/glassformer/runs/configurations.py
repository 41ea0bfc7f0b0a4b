"""The seventeen named configurations of the rule tasks: what `glassformer run NAME` trains.

Widths, contexts and heads are those of the published set wherever a model of that size can follow its rule;
`about` says where one was changed, and why.
"""

from glassformer.errors import unknown
from glassformer.model.architecture import reference
from glassformer.runs.config import Run
from glassformer.tasks import Sequences, make_rule
from glassformer.train.settings import Train


def configuration(name: str) -> Run:
    """The configuration of that name."""
    if name not in CONFIGURATIONS:
        raise unknown("configuration", name, CONFIGURATIONS, "glassformer list")
    return CONFIGURATIONS[name]


def rule_run(
    name: str,
    data: tuple[int, int, int],
    width: int,
    context: int,
    heads: int,
    head_size: int,
    rule: str = "",
    about: str = "",
    residual: bool = True,
    train: Train | None = None,
) -> Run:
    model = reference(width=width, context=context, heads=heads, head_size=head_size, residual=residual)
    return Run(name, about, make_rule(rule or name), Sequences(*data), model, train or Train())


CONFIGURATIONS: dict[str, Run] = {
    run.name: run
    for run in (
        rule_run("plus_last_even", (2000, 20, 50), 2, 8, 1, 2),
        rule_run("lucky7", (5000, 30, 80), 2, 8, 1, 2),
        rule_run("lucky7_no_resid", (5000, 30, 80), 2, 8, 1, 2, rule="lucky7", residual=False),
        rule_run("step_back", (8000, 30, 80), 4, 16, 1, 4),
        rule_run("copy_modulo", (1500, 33, 64), 3, 32, 1, 3),
        rule_run("successor", (1500, 12, 20), 4, 10, 1, 4),
        rule_run("conditional_transform", (1500, 12, 20), 4, 10, 1, 4),
        rule_run("lookup_permutation", (1500, 12, 20), 6, 10, 1, 6),
        rule_run("odd_even_index", (2000, 16, 32), 2, 8, 1, 2),
        rule_run("even_to_odd_transition", (1500, 16, 32), 1, 8, 1, 1),
        rule_run("even_repeat_last_odd", (1500, 16, 32), 12, 12, 2, 6),
        rule_run("even_abs_diff", (1500, 16, 32), 12, 12, 2, 6),
        rule_run("parity_based", (1500, 33, 64), 32, 16, 2, 32),
        rule_run("two_token_parity", (5000, 33, 64), 2, 10, 1, 128),
        rule_run("even_greater_than_10", (1500, 33, 64), 3, 10, 1, 16),
        rule_run("plus_max_of_two", (2000, 20, 50), 2, 8, 1, 3),
        rule_run("plus_means_even", (2000, 20, 50), 2, 8, 1, 8),
    )
}
