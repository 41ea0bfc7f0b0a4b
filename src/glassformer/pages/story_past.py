"""The chapters that all models share: the parameters, the training, the proof, the other seeds."""

import math
from collections.abc import Sequence

from glassformer.core.words import choose_plural, join_words
from glassformer.pages.story import Chapter, Content, StorySubject, make_chapter
from glassformer.pages.words import format_number, format_page_percent, group_digits

_PASSED = 0.99  # held-out accuracy at which a model counts as trained
_LARGEST, _NAMED = 3, 6  # parts of a model, and seeds, that a sentence names


def tell_parameters(tale: StorySubject, wrong: int, total: int) -> Chapter:
    """The parameter counts by convention, and the largest parts."""
    counts = tale.page["model"]["counts"]
    parts = sorted(counts["parts"].items(), key=lambda part: -part[1])[:_LARGEST]
    spent = join_words([f"{group_digits(size)} in {name}" for name, size in parts])
    size = f"{group_digits(counts['unique'])} {choose_plural(counts['unique'], 'parameter')}"
    error = f"Of the {group_digits(total)} inputs of the test set, {group_digits(wrong)} are wrong now."
    return make_chapter(
        f"The {size}",
        [
            f"The model has {size}: {spent}{_describe_other_parts(counts, parts)}.",
            _describe_other_counts(counts),
            _describe_dead_parameters(counts),
            f"Drag one: every panel and the error follow. {error}",
        ],
        "parameters",
    )


def _describe_other_parts(counts: Content, parts: Sequence[tuple[str, int]]) -> str:
    rest = counts["unique"] - sum(size for _, size in parts)
    return f", {group_digits(rest)} elsewhere" if rest else ""


def _describe_other_counts(counts: Content) -> str:
    """The other conventions, where their counts differ."""
    words = []
    if counts["stored"] != counts["unique"]:
        words.append(f"with ties written out there are {group_digits(counts['stored'])}")
    if counts["learned"] != counts["unique"]:
        words.append(f"{group_digits(counts['learned'])} of them are learned")
    if counts["nonzero"] != counts["unique"]:
        words.append(f"{group_digits(counts['nonzero'])} are not 0")
    text = join_words(words) if words else ""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _describe_dead_parameters(counts: Content) -> str:
    dead = list(counts["dead"] or ())
    if not dead:
        return ""
    named = join_words(dead if len(dead) <= _LARGEST else [*dead[:2], f"{len(dead) - 2} more"])
    return f"No logit changes with {named} (tried on {group_digits(counts['rank_contexts'])} inputs)."


def tell_training(tale: StorySubject, panel: str) -> Chapter | None:
    """When the best seed passed 99%; `panel` shows the next checkpoint."""
    training = tale.page["training"]
    if not training or not training["rows"]:
        return None
    rows, steps = training["rows"], training["steps"]
    passed = next((row for row in rows if row["argmax_accuracy"] >= _PASSED), None)
    step = next((one for one in steps if passed and one >= passed["step"]), steps[-1])
    text = [
        f"This is seed {training['best_seed']}, trained for {group_digits(rows[-1]['step'])} steps.",
        describe_passing_step(passed, rows),
        _describe_loss_fall(rows, training["floor"]),
        f"The page now shows the checkpoint at step {group_digits(step)}; the slider above shows any other.",
    ]
    return make_chapter("How it was learned", text, panel, step=step)


def describe_passing_step(passed: Content | None, rows: list[Content]) -> str:
    """The first evaluation above 99%, or the best one."""
    if passed:
        share = format_page_percent(passed["argmax_accuracy"])
        return f"Its held-out accuracy first reached 99% at step {group_digits(passed['step'])} ({share})."
    best = max(rows, key=lambda row: row["argmax_accuracy"])
    share, step = format_page_percent(best["argmax_accuracy"]), group_digits(best["step"])
    return f"Its held-out accuracy never reached 99%: the best was {share}, at step {step}."


def _describe_loss_fall(rows: list[Content], floor: float | None) -> str:
    first, last = rows[0], rows[-1]
    least = (
        f"; no model with this window has an expected loss below {format_number(floor)}"
        if floor is not None
        else ""
    )
    return (
        f"The held-out loss went from {format_number(first['loss'])} at step {group_digits(first['step'])} "
        f"to {format_number(last['loss'])}{least}."
    )


def tell_proof(tale: StorySubject, margin: float | None) -> Chapter:
    """The verdict, its classes, the rounding bound; `margin` is the page's own at its input."""
    proof = tale.proof
    titles = {"proved": "What is proved", "refuted": "Where it fails"}
    title = titles.get(proof["verdict"], "What is not known")
    return make_chapter(
        title,
        [
            proof["sentence"],
            describe_input_classes(proof["classes"]),
            _describe_rounding(proof),
            _describe_own_margin(tale, margin),
        ],
        "proof",
    )


def describe_input_classes(classes: Content) -> str:
    if not classes["total"]:
        return ""
    parts = [f"{group_digits(classes['proved'])} are proved right"]
    parts += [f"{group_digits(classes['refuted'])} contain wrong inputs"] if classes["refuted"] else []
    parts += [f"{group_digits(classes['undecided'])} are undecided"] if classes["undecided"] else []
    return f"Of {group_digits(classes['total'])} classes of inputs, {join_words(parts)}."


def _describe_rounding(proof: Content) -> str:
    bound = proof["rounding_bound"]
    if not bound or proof["verdict"] != "proved":
        return ""
    return f"Rounding in {proof['arithmetic']} changes a margin by at most {format_number(2 * bound)}."


def _describe_own_margin(tale: StorySubject, margin: float | None) -> str:
    """The margin that this page finds at its input, in float64, where it is the hardest one."""
    hardest = tale.proof["hardest"]
    if tale.is_refuted or margin is None or not hardest or hardest["input"] != tale.input:
        return ""
    return f"The page starts with the hardest input; in float64 its margin is {format_number(margin)}."


def tell_seeds(tale: StorySubject) -> Chapter | None:
    """The results of all seeds."""
    population = tale.page["population"]
    if not population:
        return None
    rows = population["rows"]
    whole = sum(row["argmax_accuracy"] == 1 for row in rows)
    most = sum(row["argmax_accuracy"] >= _PASSED for row in rows)
    losses = [row["loss"] for row in rows if math.isfinite(row["loss"])]
    spread = (
        f"Their losses range from {format_number(min(losses))} to {format_number(max(losses))}."
        if losses
        else ""
    )
    text = [
        f"The same training was run with {group_digits(len(rows))} seeds.",
        f"At the last evaluation, {group_digits(most)} of them have a held-out accuracy of 99% or more, and "
        f"{group_digits(whole)} of 100%.",
        spread,
        _describe_proved_seeds(tale, [row["seed"] for row in rows if row["verdict"] == "proved"]),
        "Click a point to switch to that seed's model." if population["params"] else population["note"],
    ]
    return make_chapter("The other seeds", text, "population")


def _describe_proved_seeds(tale: StorySubject, seeds: list[int]) -> str:
    """Which seeds are proved, where more than the best one is tried."""
    if not tale.loaded.task.proves_seeds:
        return f"A proof was tried only for seed {tale.page['population']['best_seed']}."
    if not seeds:
        return "None of them is proved right on all inputs."
    named = f"{choose_plural(len(seeds), 'seed')} {join_words([str(seed) for seed in seeds])}"
    return f"Proved right on all inputs: {named if len(seeds) <= _NAMED else f'{len(seeds)} seeds'}."
