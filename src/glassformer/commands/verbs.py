"""What each verb does: from parsed options to (JSON content, words for people, exit status)."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.errors import UserError, require, unknown

Answer = tuple[dict[str, Any], str, int]
SHORT = {"seeds": "train.seeds", "seed": "train.first_seed", "steps": "train.steps"}
PAIRS, HARD, POSITIONS = 10_000, 2_000, 100_000  # that `test` takes where nothing is said
SHORT |= {"device": "train.device", "threads": "train.threads", "mine": "train.mine"}


def run_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.run import run
    from glassformer.commands.run_result import summarise

    if known.resume and known.overwrite:
        raise UserError("--resume and --overwrite exclude each other")
    began = time.perf_counter()
    short = {path: getattr(known, name) for name, path in SHORT.items() if getattr(known, name) is not None}
    result = run(
        known.target,
        known.out,
        short | options,
        known.resume,
        known.overwrite,
        not (known.quiet or known.json),
        prove=known.verb == "run",
        rule=known.rule,
        no_limit=known.no_limit,
    )
    folder = Path(result.folder)
    words = [
        f"{folder}: complete after {max(result.seconds, time.perf_counter() - began):.0f} s",
        *(f"  {line}" for line in summarise(folder, result)),
    ]
    if (folder / "figures" / "captions.md").exists():
        words.append(f"  figures, with captions and data: {folder / 'figures'}")
    if (folder / "page.html").exists():
        words.append(f"  the page, for any browser: {(folder / 'page.html').resolve().as_uri()}")
    has_certificate = result.proof and result.proof["certificate"]
    following = f"test {folder}" if result.verdict else f"prove {folder}"
    following = f"check {folder}/certificate.json" if has_certificate else following
    words.append(f"next: glassformer {following}")
    return asdict(result), "\n".join(words), 0


train_verb = run_verb


def test_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    for name, least in (("positions", 1), ("pairs", 1), ("hard", 0)):
        value = getattr(known, name)
        require(value is None or value >= least, f"--{name}", f"at least {least}", value)
    if known.seed is not None:
        require(0 <= known.seed < 2**31, "--seed", "between 0 and 2^31 - 1", known.seed)
    from glassformer.commands import testing
    from glassformer.runs.load import load

    loaded = load(known.target, known.model)
    if loaded.task.family != "addition":
        does = loaded.task.words.ability
        refuse_given(known, ("pairs", "hard"), f"adders; {known.target} {does}: --positions")
        return testing.test_strings(loaded, known.positions or POSITIONS, known.seed, known.no_limit)
    refuse_given(known, ("positions",), f"rules and questions; {known.target} adds: --pairs")
    pairs, hard = known.pairs or PAIRS, HARD if known.hard is None else known.hard
    show = not (known.quiet or known.json)
    return testing.test_adder(loaded, known.seed, pairs, hard, show, known.no_limit)


def refuse_given(known: argparse.Namespace, names: tuple[str, ...], meant_for: str) -> None:
    """An option that would be ignored is said to be."""
    for name in names:
        if getattr(known, name) not in (None, False):
            raise UserError(f"--{name.replace('_', '-')} is for {meant_for}")


def prove_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands import prove as proving
    from glassformer.commands.waiting import waiting

    if known.population:
        refuse_given(known, ("out", "real", "model"), "one model; --population proves all seeds of a run")
        return proving.prove_whole_population(known.target, known.time, not (known.quiet or known.json))
    loaded = proving.load_target(known.target, known.model, known.time)
    with waiting(f"proving {known.target}, {known.time:g} s at the most", not (known.quiet or known.json)):
        result = proving.prove_loaded(loaded, known.real, known.time, known.out)
    words = proving.prove_words(result, loaded.task, bool(known.out))
    return result.content(), words, proving.STATUS[result.verdict]


def check_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.check import check_verdict
    from glassformer.commands.waiting import waiting

    with waiting(f"checking {known.file}", not known.json):
        return check_verdict(known.file, known.target, known.model)


def draw_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.draw import Wish, draw, draw_words, read_pair

    wish = Wish(
        step=known.step,
        sequences=tuple(known.sequence),
        pair=read_pair(known.pair) if known.pair is not None else None,
        query=known.query,
        dims=two_integers("--dims", known.dims),
        only=parted(known.only),
        formats=parted(known.format),
        theme=known.theme,
    )
    result = draw(known.target, wish, known.out, known.model, not (known.quiet or known.json))
    return asdict(result), draw_words(result), 0


def video_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.draw import read_pair
    from glassformer.commands.video import VideoWish, video, video_words

    wish = VideoWish(
        which=parted(known.which),
        sequences=tuple(known.sequence),
        pair=read_pair(known.pair) if known.pair is not None else None,
        fps=known.fps,
        every=known.every,
        width=known.width,
        formats=parted(known.format),
        theme=known.theme,
    )
    result = video(known.target, wish, known.out, known.model, not (known.quiet or known.json))
    return asdict(result), video_words(result), 0


def page_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.page import open_browser, page, page_words, somebody_looks

    is_alone = known.quiet or known.json
    result = page(known.target, known.out, known.model, not is_alone, known.time)
    wanted = known.open if known.open is not None else somebody_looks() and not is_alone
    return asdict(result), page_words(result, wanted and open_browser(result)), 0


def spectra_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.spectra import spectra, spectra_words

    if known.other and known.compare:
        raise UserError(
            "--compare names the second model, and so does the second word: one of them is enough"
        )
    result = spectra(
        known.target,
        known.other or known.compare,
        out=known.out,
        layers=known.layers,
        heads_only=known.heads,
        treatments=known.treatments,
        relations=known.relations,
        top=known.top,
        workers=known.workers,
        engine=known.engine,
        address=known.address,
        device=known.device,
        singular_values=known.singular_values,
        formats=parted(known.format),
        theme=known.theme,
        overwrite=known.overwrite,
        show=not (known.quiet or known.json),
    )
    return asdict(result), spectra_words(result, known.target), 0


def sweep_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.sweep import sweep, sweep_words
    from glassformer.sweep.reading import read_grid

    result = sweep(
        known.target,
        read_grid(known.grid),
        options,
        seeds=known.seeds,
        first_seed=known.seed,
        block=known.block,
        out=known.out,
        engine=known.engine,
        workers=known.workers,
        address=known.address,
        resume=known.resume,
        overwrite=known.overwrite,
        plan=known.plan,
        certificates=known.certificates,
        rule=known.rule,
        no_limit=known.no_limit,
        show=not (known.quiet or known.json),
    )
    return asdict(result), sweep_words(result), 0


def export_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.export import STATUS, export, export_words
    from glassformer.commands.waiting import waiting

    with waiting(f"exporting {known.target} and comparing", not (known.quiet or known.json)):
        result = export(known.target, known.to, known.out, known.model, known.overwrite)
    return asdict(result), export_words(result), STATUS[result.checked_equal]


def prune_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.prune import prune, prune_words
    from glassformer.commands.waiting import waiting

    require(known.time > 0, "--time", "above 0 seconds", known.time)
    with waiting(f"reducing {known.target}", not (known.quiet or known.json)):
        result = prune(known.target, known.out, known.model, known.time)
    return asdict(result), prune_words(result), 0


def parted(text: str | None) -> tuple[str, ...]:
    """The words of a list with commas."""
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def two_integers(option: str, text: str | None) -> tuple[int, int] | None:
    words = parted(text)
    if text is None:
        return None
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise UserError(f"{option} must be two integers parted by a comma, as 0,1, but it is '{text}'")
    return int(words[0]), int(words[1])


def add_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.adding import add_numbers
    from glassformer.runs.load import load

    return add_numbers(load(known.target, known.model), known.a, known.b)


def count_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands import counting

    if known.target == counting.WHOLE_ZOO:
        counting.refuse_model(known.target, known.model)
        content = counting.count_zoo()
        return content, counting.table_words(content), 0
    content = counting.count_target(known.target, known.model)
    return content, counting.count_words(known.target, content), 0


def list_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands import listing

    kinds = ("tasks", "models", "figures", "runs", "settings")
    if known.what not in (*kinds, "all"):
        raise unknown("list", known.what, kinds)
    wanted = kinds[:4] if known.what == "all" else (known.what,)
    content = {kind: getattr(listing, kind)() for kind in wanted}
    words = [line for kind in wanted for line in (f"{kind}:", *listing.lines(content[kind]), "")]
    return content, "\n".join(words).rstrip(), 0
