"""Learning curve: losses against the least that is possible, and how often the rule is broken.

Every seed of the population is a thin line; the chosen one is thick, with the 95% interval of its rule error.
"""

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from glassformer.draw import needs
from glassformer.draw.measure.subject import Past, Subject
from glassformer.draw.parts.frame import SMALL, Frame, sheet
from glassformer.draw.picture import Data, words_of
from glassformer.draw.shares import counted, percent, share_text
from glassformer.draw.theme import Theme
from glassformer.errors import UserError
from glassformer.model.model import Model
from glassformer.runs.history import History
from glassformer.verify.share import Share

MEASURED, TRIALS = 60, 1_000  # saved steps, and contexts, on which the chosen seed is measured at most
GOOD = 0.999  # argmax accuracy on held-out windows from which on a seed has learned the rule
BROKEN = {"rule": "how often the rule is broken"}  # titles by what says which token comes next
WIDE, HIGH, LEFT, ABOVE, BELOW = 6.75, 6.4, 1.05, 0.5, 2.0  # cm of a panel, and what stands around it
PANEL = LEFT + WIDE + 0.45


def compute(subject: Subject) -> Data:
    past, history = subject.past, needs.past(subject)
    score = subject.task.best_by[0]
    curves = {
        seed: curve_of(past, seed, score) for seed in dict.fromkeys(int(row["seed"]) for row in past.rows)
    }
    steps, shares = measured(subject, history)
    allowed = subject.trials.allowed[:TRIALS]
    last = {seed: 1 - curve["error"][-1] for seed, curve in curves.items()}
    return {
        "seed": past.best_seed,
        "curves": curves,
        "steps": steps,
        "shares": shares,
        "floor": floor_of(subject),
        "chance": float(np.mean(1 - allowed.mean(1))) if len(allowed) else float("nan"),
        "trials": len(allowed),
        "reached": sum(accuracy >= GOOD for accuracy in last.values()),
        "step": subject.step,
        "uniform": float(np.log(len(subject.tokens))),
    }


def curve_of(past: Past, seed: int, score: str) -> dict[str, np.ndarray]:
    """A seed's losses and held-out error at every evaluation."""
    rows = [row for row in past.rows if row["seed"] == seed]
    names = {"step": "step", "train": "train_loss", "held_out": "loss", "error": score}
    found = {key: np.array([row[name] for row in rows], float) for key, name in names.items()}
    return found | {"error": 1 - found["error"]}


def measured(subject: Subject, history: History) -> tuple[Int[np.ndarray, " step"], list[Share]]:
    """The chosen seed's rule error at saved steps, the first and the last among them."""
    count = len(history.steps)
    chosen = np.unique(np.linspace(0, count - 1, min(count, MEASURED)).round().astype(int))
    models = [Model(subject.model.architecture, history.at(index)) for index in chosen]
    return history.steps[chosen], [rule_error(subject, model) for model in models]


def rule_error(subject: Subject, model: Model) -> Share:
    """How often the largest logit is not an allowed token's; a tie is an error too."""
    contexts, allowed = subject.trials.contexts[:TRIALS], subject.trials.allowed[:TRIALS]
    if not len(contexts):
        return Share.of(0, 0)
    logits = model.forward(contexts, last=1)[:, 0]
    best = np.where(allowed, logits, -np.inf).max(1)
    others = np.where(allowed, -np.inf, logits).max(1)
    return Share.of(int((best <= others).sum()), len(contexts))


def floor_of(subject: Subject) -> float:
    """The entropy floor; nan for a rule that is too large for it."""
    try:
        return subject.inputs.floor(subject.data)
    except UserError:
        return float("nan")


def draw(data: Data, theme: Theme) -> Figure:
    paper = sheet(theme, ABOVE + HIGH + BELOW, title(data))
    draw_losses(step_axes(paper, LEFT, data, "loss, in nats a token"), data, theme)
    draw_errors(step_axes(paper, LEFT + PANEL, data, words_of(data)["error"]), data, theme)
    return paper.figure


def step_axes(paper: Frame, left: float, data: Data, label: str) -> Axes:
    """Steps on a logarithmic scale that begins at 0, and a line at the step that the other figures show."""
    theme, steps = paper.theme, np.unique(np.r_[data["steps"], data["curves"][data["seed"]]["step"]])
    first, last = float(steps[steps > 0].min(initial=max(steps.max(), 1))), float(max(steps.max(), 1))
    axes = paper.axes(left, ABOVE, WIDE, HIGH)
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


def draw_losses(axes: Axes, data: Data, theme: Theme) -> None:
    seed, floor = data["seed"], data["floor"]
    draw_population(axes, data, "held_out", theme)
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
    level_line(axes, floor, f"entropy floor {floor:.3f}", theme, below=True)
    axes.set_title("losses" + drawn_step(data))
    name_lines(axes)


def draw_errors(axes: Axes, data: Data, theme: Theme) -> None:
    seed, shares, chance = data["seed"], data["shares"], data["chance"]
    smallest = 1 / max(data["trials"], 10)
    axes.set_yscale("symlog", linthresh=smallest, linscale=0.5)
    draw_population(axes, data, "error", theme)
    low, value, high = (np.array([getattr(s, key) for s in shares]) for key in ("low", "value", "high"))
    axes.fill_between(data["steps"], low, high, color=theme.accent, alpha=0.2, linewidth=0)
    said = f"seed {seed}, chosen: {data['trials']:,} trials, 95% interval"
    axes.plot(data["steps"], value, color=theme.accent, linewidth=1.7, label=said)
    axes.set_ylim(-0.12 * smallest, 1.9)
    powers = [10.0**power for power in range(-6, 1) if 10**power >= smallest * 0.999]
    axes.yaxis.set_major_locator(FixedLocator([0, *powers]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    level_line(axes, chance, f"a uniform guess: {percent(chance)}", theme, below=False)
    axes.set_title(BROKEN.get(words_of(data)["law"], "how often the answer is wrong") + drawn_step(data))
    name_lines(axes)


def name_lines(axes: Axes) -> None:
    """The legend, under the panel, the chosen seed first."""
    handles, labels = axes.get_legend_handles_labels()
    place = {"loc": "upper left", "bbox_to_anchor": (0, -0.125), "borderaxespad": 0.0, "borderpad": 0.0}
    axes.legend(handles[::-1], labels[::-1], handlelength=1.8, labelspacing=0.35, **place)


def drawn_step(data: Data) -> str:
    return "" if data["step"] is None else f" (dotted: step {data['step']:,})"


def draw_population(axes: Axes, data: Data, key: str, theme: Theme) -> None:
    """Every other seed."""
    others = [curve for seed, curve in data["curves"].items() if seed != data["seed"]]
    for index, curve in enumerate(others):
        label = f"{counted(len(others), 'other seed')}: held-out" if index == 0 else None
        look = {"color": theme.muted, "linewidth": 0.5, "alpha": 0.5, "label": label}
        axes.plot(curve["step"], curve[key], **look)


def level_line(axes: Axes, level: float, text: str, theme: Theme, below: bool) -> None:
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
    learned = f"{data['reached']} of {counted(seeds, 'seed')} learned the {words_of(data)['law']}"
    found = f"{learned}; the chosen seed {data['seed']} "
    if not last.positions:
        return f"{found}ends at a loss of {data['curves'][data['seed']]['held_out'][-1]:.3f}"
    errors = counted(round(last.value * last.positions), "error")
    return f"{found}ends with {errors} in {last.positions:,} trials"


def caption(data: Data) -> str:
    end, words = share_text(data["shares"][-1]), words_of(data)
    floor = (
        f"{data['floor']:.4f} nats"
        if np.isfinite(data["floor"])
        else f"too large a {words['law']} to compute it"
    )
    return (
        "Cross-entropy on training batches and on held-out windows, and the entropy floor of the data: the "
        f"least mean loss that a model with this context can have ({floor}; on the windows "
        f"at hand a loss may come out a little lower). {words['error'].capitalize()} of the chosen seed: the "
        f"share of {data['trials']:,} {words['input']}s, whose next token the {words['law']} constrains and "
        "the window decides, in which "
        "the largest logit is not an allowed token's, measured at "
        f"{len(data['steps'])} saved steps with its exact 95% interval (Clopper and Pearson, as if contexts "
        f"were independent, of which one sequence gives several), in the end {end}. Thin lines are the other "
        "seeds on their held-out windows. A uniform guess over the vocabulary is wrong at "
        f"{percent(data['chance'])}. {data['reached']} of {counted(len(data['curves']), 'seed')} ended at "
        f"{GOOD:.1%} of the constrained held-out places or better. Steps "
        "are on a logarithmic scale that begins at 0, errors on one that reaches 0."
    )
