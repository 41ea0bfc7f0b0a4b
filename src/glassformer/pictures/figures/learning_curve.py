"""Learning curve: losses against the least that is possible, and how often the rule is broken.

Every seed of the population is a thin line; the chosen one is thick, with the 95% interval of its rule error.
"""

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from glassformer.core.errors import UserError
from glassformer.core.share import MeasuredShare
from glassformer.core.theme import Theme
from glassformer.core.words import format_count, format_percent, format_share
from glassformer.models.margins import measure_margins
from glassformer.models.model import Model
from glassformer.pictures import needs
from glassformer.pictures.measure.subject import Past, Subject
from glassformer.pictures.parts.frame import SMALL, Frame, make_sheet
from glassformer.pictures.picture import Data, find_task_words
from glassformer.runs.history import History

_MEASURED, _TRIALS = 60, 1_000  # saved steps, and contexts, on which the chosen seed is measured at most
_GOOD = 0.999  # argmax accuracy on held-out windows from which on a seed has learned the rule
_BROKEN = {"rule": "how often the rule is broken"}  # titles by what says which token comes next
_WIDE, _HIGH, _LEFT, _ABOVE, _BELOW = 6.75, 6.4, 1.05, 0.5, 2.0  # cm of a panel, and what stands around it
_PANEL = _LEFT + _WIDE + 0.45


def compute(subject: Subject) -> Data:
    past, history = subject.past, needs.require_past(subject)
    score = subject.task.best_by[0]
    curves = {
        seed: _collect_seed_curve(past, seed, score)
        for seed in dict.fromkeys(int(row["seed"]) for row in past.rows)
    }
    steps, shares = _measure_step_errors(subject, history)
    allowed = subject.trials.allowed[:_TRIALS]
    last = {seed: 1 - curve["error"][-1] for seed, curve in curves.items()}
    return {
        "seed": past.best_seed,
        "curves": curves,
        "steps": steps,
        "shares": shares,
        "floor": _find_loss_floor(subject),
        "chance": float(np.mean(1 - allowed.mean(1))) if len(allowed) else float("nan"),
        "trials": len(allowed),
        "reached": sum(accuracy >= _GOOD for accuracy in last.values()),
        "step": subject.step,
        "uniform": float(np.log(len(subject.tokens))),
    }


def _collect_seed_curve(past: Past, seed: int, score: str) -> dict[str, np.ndarray]:
    """A seed's losses and held-out error at every evaluation."""
    rows = [row for row in past.rows if row["seed"] == seed]
    names = {"step": "step", "train": "train_loss", "held_out": "loss", "error": score}
    found = {key: np.array([row[name] for row in rows], float) for key, name in names.items()}
    return found | {"error": 1 - found["error"]}


def _measure_step_errors(
    subject: Subject, history: History
) -> tuple[Int[np.ndarray, " step"], list[MeasuredShare]]:
    """The chosen seed's rule error at saved steps, the first and the last among them."""
    count = len(history.steps)
    chosen = np.unique(np.linspace(0, count - 1, min(count, _MEASURED)).round().astype(int))
    models = [Model(subject.model.architecture, history.at(index)) for index in chosen]
    return history.steps[chosen], [_measure_rule_error(subject, model) for model in models]


def _measure_rule_error(subject: Subject, model: Model) -> MeasuredShare:
    """How often the largest logit is not an allowed token's; a tie is an error too."""
    contexts, allowed = subject.trials.contexts[:_TRIALS], subject.trials.allowed[:_TRIALS]
    if not len(contexts):
        return MeasuredShare.of(0, 0)
    logits = model.forward(contexts, last=1)[:, 0]
    return MeasuredShare.of(int((~(measure_margins(logits.T, allowed.T) > 0)).sum()), len(contexts))


def _find_loss_floor(subject: Subject) -> float:
    """The entropy floor; nan for a rule that is too large for it."""
    try:
        return subject.inputs.floor(subject.data)
    except UserError:
        return float("nan")


def draw(data: Data, theme: Theme) -> Figure:
    paper = make_sheet(theme, _ABOVE + _HIGH + _BELOW, title(data))
    _draw_losses(_make_step_axes(paper, _LEFT, data, "loss, in nats per token"), data, theme)
    _draw_errors(_make_step_axes(paper, _LEFT + _PANEL, data, find_task_words(data)["error"]), data, theme)
    return paper.figure


def _make_step_axes(paper: Frame, left: float, data: Data, label: str) -> Axes:
    """Steps on a logarithmic scale that begins at 0, and a line at the step that the other figures show."""
    theme, steps = paper.theme, np.unique(np.r_[data["steps"], data["curves"][data["seed"]]["step"]])
    first, last = float(steps[steps > 0].min(initial=max(steps.max(), 1))), float(max(steps.max(), 1))
    axes = paper.axes(left, _ABOVE, _WIDE, _HIGH)
    axes.set_xscale("symlog", linthresh=first, linscale=0.4)
    axes.set_xlim(0, last * 1.02)
    powers = [10.0**power for power in range(7) if first <= 10**power <= last]
    ends = [last] if not powers or last > 2.5 * powers[-1] else []
    axes.xaxis.set_major_locator(FixedLocator([0, *powers, *ends]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
    axes.set(xlabel="step", ylabel=label)
    if data["step"] is not None:
        axes.axvline(data["step"], color=theme.ink, linewidth=0.8, linestyle=(0, (1, 1.5)))
    return axes


def _draw_losses(axes: Axes, data: Data, theme: Theme) -> None:
    seed, floor = data["seed"], data["floor"]
    _draw_other_seeds(axes, data, "held_out", theme)
    own = data["curves"][seed]
    axes.plot(
        own["step"], own["train"], color=theme.accent, linewidth=0.9, alpha=0.75, label="its training loss"
    )
    axes.plot(
        own["step"],
        own["held_out"],
        color=theme.accent,
        linewidth=1.7,
        label=f"seed {seed}, chosen: held-out",
    )
    every = np.concatenate([curve["held_out"] for curve in data["curves"].values()] + [own["train"]])
    high = min(np.nanmax(every, initial=0, where=np.isfinite(every)), 1.5 * data["uniform"])
    low = np.nanmin([np.nanmin(every), floor])
    axes.set_ylim(low - 0.09 * (high - low), high + 0.05 * (high - low))
    _draw_level_line(axes, floor, f"entropy floor {floor:.3f}", theme, below=True)
    axes.set_title("losses" + _describe_drawn_step(data))
    _draw_seed_legend(axes)


def _draw_errors(axes: Axes, data: Data, theme: Theme) -> None:
    seed, shares, chance = data["seed"], data["shares"], data["chance"]
    smallest = 1 / max(data["trials"], 10)
    axes.set_yscale("symlog", linthresh=smallest, linscale=0.5)
    _draw_other_seeds(axes, data, "error", theme)
    low, value, high = (np.array([getattr(s, key) for s in shares]) for key in ("low", "value", "high"))
    axes.fill_between(data["steps"], low, high, color=theme.accent, alpha=0.2, linewidth=0)
    said = f"seed {seed}, chosen: {data['trials']:,} trials, 95% interval"
    axes.plot(data["steps"], value, color=theme.accent, linewidth=1.7, label=said)
    axes.set_ylim(-0.12 * smallest, 1.9)
    powers = [10.0**power for power in range(-6, 1) if 10**power >= smallest * 0.999]
    axes.yaxis.set_major_locator(FixedLocator([0, *powers]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    _draw_level_line(axes, chance, f"a uniform guess: {format_percent(chance)}", theme, below=False)
    axes.set_title(
        _BROKEN.get(find_task_words(data)["law"], "how often the answer is wrong")
        + _describe_drawn_step(data)
    )
    _draw_seed_legend(axes)


def _draw_seed_legend(axes: Axes) -> None:
    """The legend, under the panel, the chosen seed first."""
    handles, labels = axes.get_legend_handles_labels()
    place = {"loc": "upper left", "bbox_to_anchor": (0, -0.125), "borderaxespad": 0.0, "borderpad": 0.0}
    axes.legend(handles[::-1], labels[::-1], handlelength=1.8, labelspacing=0.35, **place)


def _describe_drawn_step(data: Data) -> str:
    return "" if data["step"] is None else f" (dotted: step {data['step']:,})"


def _draw_other_seeds(axes: Axes, data: Data, key: str, theme: Theme) -> None:
    """Every other seed."""
    others = [curve for seed, curve in data["curves"].items() if seed != data["seed"]]
    for index, curve in enumerate(others):
        label = f"{format_count(len(others), 'other seed')}: held-out" if index == 0 else None
        look = {"color": theme.muted, "linewidth": 0.5, "alpha": 0.5, "label": label}
        axes.plot(curve["step"], curve[key], **look)


def _draw_level_line(axes: Axes, level: float, text: str, theme: Theme, below: bool) -> None:
    """A horizontal line with its name at the end where curves are far from it."""
    if not np.isfinite(level):
        return
    axes.axhline(level, color=theme.ink, linewidth=0.9, linestyle=(0, (4, 2)))
    halo = [withStroke(linewidth=2, foreground=theme.paper)]
    side = 0.0 if below else 1.0
    place = {"xy": (side, level), "xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    axes.annotate(
        text, xytext=(4 if below else -4, -3 if below else 3), va="top" if below else "bottom",
        ha="left" if below else "right", fontsize=SMALL,
        path_effects=halo, **place,
    )  # fmt: skip


def title(data: Data) -> str:
    seeds, last = len(data["curves"]), data["shares"][-1]
    learned = f"{data['reached']} of {format_count(seeds, 'seed')} learned the {find_task_words(data)['law']}"
    found = f"{learned}; the chosen seed {data['seed']} "
    if not last.positions:
        return f"{found}ends at a loss of {data['curves'][data['seed']]['held_out'][-1]:.3f}"
    errors = format_count(round(last.value * last.positions), "error")
    return f"{found}ends with {errors} in {last.positions:,} trials"


def caption(data: Data) -> str:
    end, words = format_share(data["shares"][-1]), find_task_words(data)
    floor = (
        f"{data['floor']:.4f} nats"
        if np.isfinite(data["floor"])
        else f"too large a {words['law']} to compute it"
    )
    return (
        "Cross-entropy on training batches and on held-out windows, and the entropy floor of the data: the "
        f"least mean loss that a model with this context can have ({floor}; on the windows at hand a loss "
        f"may come out a little lower). {words['error'].capitalize()} of the chosen seed: the share of "
        f"{data['trials']:,} {words['input']}s, whose next token the {words['law']} constrains and the "
        "window decides, in which the largest logit is not an allowed token's, measured at "
        f"{len(data['steps'])} saved steps with its exact 95% interval (Clopper and Pearson, as if contexts "
        f"were independent, of which one sequence gives several), in the end {end}. Thin lines are the other "
        "seeds on their held-out windows. A uniform guess over the vocabulary is wrong at "
        f"{format_percent(data['chance'])}. {data['reached']} of {format_count(len(data['curves']), 'seed')} "
        f"ended at {_GOOD:.1%} of the constrained held-out positions or better. Steps are on a logarithmic "
        "scale that begins at 0, errors on one that reaches 0."
    )
