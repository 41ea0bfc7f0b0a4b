"""The chapters that all models share: the numbers, how they were learned, what is proved, other seeds."""

import math
from collections.abc import Sequence

from glassformer.page.story import Chapter, Content, Tale, chapter
from glassformer.page.words import grouped, listed, percent, short

PASSED = 0.99  # held-out accuracy: where learning is said to be done
LARGEST, NAMED = 3, 6  # parts of a model, and seeds, that a sentence names


def numbers_chapter(tale: Tale, wrong: int, total: int) -> Chapter:
    """How many numbers, by convention, and where most of them are."""
    counts = tale.page["model"]["counts"]
    parts = sorted(counts["parts"].items(), key=lambda part: -part[1])[:LARGEST]
    spent = listed([f"{grouped(size)} in {name}" for name, size in parts])
    error = f"the error over the {grouped(total)} inputs of the test set, now {grouped(wrong)} wrong"
    return chapter(
        f"The {grouped(counts['unique'])} numbers",
        [
            f"The model is {grouped(counts['unique'])} stored numbers: {spent}{other_words(counts, parts)}.",
            stored_words(counts),
            dead_words(counts),
            f"Drag one of them: every panel follows, and so does {error}.",
        ],
        "parameters",
    )


def other_words(counts: Content, parts: Sequence[tuple[str, int]]) -> str:
    rest = counts["unique"] - sum(size for _, size in parts)
    return f", {grouped(rest)} elsewhere" if rest else ""


def stored_words(counts: Content) -> str:
    """The other conventions, where they give other numbers."""
    words = []
    if counts["stored"] != counts["unique"]:
        words.append(f"with ties written out they are {grouped(counts['stored'])}")
    if counts["learned"] != counts["unique"]:
        words.append(f"{grouped(counts['learned'])} of them are learned")
    if counts["nonzero"] != counts["unique"]:
        words.append(f"{grouped(counts['nonzero'])} are not 0")
    text = listed(words) if words else ""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def dead_words(counts: Content) -> str:
    dead = list(counts["dead"] or ())
    if not dead:
        return ""
    named = listed(dead if len(dead) <= LARGEST else [*dead[:2], f"{len(dead) - 2} more"])
    return f"No logit moves with {named}, over {grouped(counts['rank_contexts'])} inputs."


def learned_chapter(tale: Tale, panel: str) -> Chapter | None:
    """When the chosen seed passed 99%, by its own curve; `panel` shows the next checkpoint from there."""
    training = tale.page["training"]
    if not training or not training["rows"]:
        return None
    rows, steps = training["rows"], training["steps"]
    passed = next((row for row in rows if row["argmax_accuracy"] >= PASSED), None)
    step = next((one for one in steps if passed and one >= passed["step"]), steps[-1])
    text = [
        f"This is seed {training['best_seed']}, trained for {grouped(rows[-1]['step'])} steps.",
        passed_words(passed, rows),
        loss_words(rows, training["floor"]),
        f"The page is now at its checkpoint of step {grouped(step)}; the bar above goes to any other.",
    ]
    return chapter("How it was learned", text, panel, step=step)


def passed_words(passed: Content | None, rows: list[Content]) -> str:
    """The first evaluation above 99%, or the best there was."""
    if passed:
        share = percent(passed["argmax_accuracy"])
        return f"Its held-out accuracy first reached 99% at step {grouped(passed['step'])} ({share})."
    best = max(rows, key=lambda row: row["argmax_accuracy"])
    share, step = percent(best["argmax_accuracy"]), grouped(best["step"])
    return f"Its held-out accuracy never reached 99%: the best was {share}, at step {step}."


def loss_words(rows: list[Content], floor: float | None) -> str:
    first, last = rows[0], rows[-1]
    least = f"; on average no model with this window can be below {short(floor)}" if floor is not None else ""
    return (
        f"The held-out loss went from {short(first['loss'])} at step {grouped(first['step'])} to "
        f"{short(last['loss'])}{least}."
    )


def proof_chapter(tale: Tale, margin: float | None) -> Chapter:
    """The verdict, what it rests on, how far rounding reaches; `margin` is the page's own at its input."""
    proof = tale.proof
    titles = {"proved": "What is proved", "refuted": "Where it fails"}
    title = titles.get(proof["verdict"], "What is not known")
    return chapter(
        title,
        [proof["sentence"], classes_words(proof["classes"]), rounding_words(proof), own_words(tale, margin)],
        "proof",
    )


def classes_words(classes: Content) -> str:
    if not classes["total"]:
        return ""
    parts = [f"{grouped(classes['proved'])} are proved right"]
    parts += [f"{grouped(classes['refuted'])} hold inputs that fail"] if classes["refuted"] else []
    parts += [f"{grouped(classes['undecided'])} are left open"] if classes["undecided"] else []
    return f"Of {grouped(classes['total'])} classes of inputs {listed(parts)}."


def rounding_words(proof: Content) -> str:
    bound = proof["rounding_bound"]
    if not bound or proof["verdict"] != "proved":
        return ""
    return f"Rounding in {proof['arithmetic']} moves a margin by at most {short(2 * bound)}."


def own_words(tale: Tale, margin: float | None) -> str:
    """The margin that this page finds at its input, in float64, where it is the hardest one."""
    hardest = tale.proof["hardest"]
    if tale.is_refuted or margin is None or not hardest or hardest["input"] != tale.input:
        return ""
    return (
        f"The hardest input is the one that this page began with; in float64 its margin is {short(margin)}."
    )


def seeds_chapter(tale: Tale) -> Chapter | None:
    """How the other seeds did."""
    population = tale.page["population"]
    if not population:
        return None
    rows = population["rows"]
    whole = sum(row["argmax_accuracy"] == 1 for row in rows)
    most = sum(row["argmax_accuracy"] >= PASSED for row in rows)
    losses = [row["loss"] for row in rows if math.isfinite(row["loss"])]
    spread = f"Their losses go from {short(min(losses))} to {short(max(losses))}." if losses else ""
    text = [
        f"The same training was begun {grouped(len(rows))} times, each time from other random numbers.",
        f"At the last evaluation {grouped(most)} of them have a held-out accuracy of 99% or more, and "
        f"{grouped(whole)} missed nothing.",
        spread,
        proved_words(tale, [row["seed"] for row in rows if row["verdict"] == "proved"]),
        "Choose a point to open that seed's model." if population["params"] else population["note"],
    ]
    return chapter("The other seeds", text, "population")


def proved_words(tale: Tale, seeds: list[int]) -> str:
    """Which seeds are proved, where more than the chosen one is tried."""
    if not tale.loaded.task.proves_seeds:
        return f"The proof was tried for seed {tale.page['population']['best_seed']} alone."
    if not seeds:
        return "None of them is proved right on all inputs."
    named = f"{'seed' if len(seeds) == 1 else 'seeds'} {listed([str(seed) for seed in seeds])}"
    return f"Proved right on all inputs: {named if len(seeds) <= NAMED else f'{len(seeds)} seeds'}."
