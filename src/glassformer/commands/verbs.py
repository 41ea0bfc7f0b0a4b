"""What each verb does: from parsed options to (JSON content, words for people, exit status)."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.errors import UserError, require, unknown
from glassformer.tasks import Rule

Answer = tuple[dict[str, Any], str, int]
SHORT = {"seeds": "train.seeds", "seed": "train.first_seed", "steps": "train.steps"}
SHORT |= {"device": "train.device", "threads": "train.threads"}


def run_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.report import summary_lines
    from glassformer.commands.run import run
    from glassformer.runs.folder import stored

    if known.resume and known.overwrite:
        raise UserError("--resume and --overwrite exclude each other")
    short = {path: getattr(known, name) for name, path in SHORT.items() if getattr(known, name) is not None}
    result = run(
        known.target,
        known.out,
        short | options,
        known.resume,
        known.overwrite,
        not (known.quiet or known.json),
    )
    folder = Path(result.folder)
    words = [
        f"{folder}: complete after {result.seconds:.0f} s",
        *(f"  {line}" for line in summary_lines(stored(folder), result)),
    ]
    words.append(f"next: glassformer test {folder}")
    return asdict(result), "\n".join(words), 0


train_verb = run_verb


def test_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.runs.load import load
    from glassformer.train.setup import set_up_jax

    require(known.positions >= 1, "--positions", "at least 1", known.positions)
    require(known.pairs >= 1, "--pairs", "at least 1", known.pairs)
    require(0 <= known.seed < 2**31, "--seed", "between 0 and 2^31 - 1", known.seed)
    loaded = load(known.target)
    set_up_jax("cpu", loaded.architecture.precision)
    began = time.perf_counter()
    content = test_rule(loaded, known) if isinstance(loaded.task, Rule) else test_addition(loaded, known)
    seconds = time.perf_counter() - began
    content |= {"target": loaded.origin, "seconds": round(seconds, 3)}
    if "total" in content:
        content["additions_per_second"] = round(content["total"] / seconds, 1)
    return content, test_words(content), 0 if content.get("qualified", True) else 1


def test_rule(loaded: Any, known: argparse.Namespace) -> dict[str, Any]:
    from glassformer.verify.measure import measure_rule

    report = asdict(measure_rule(loaded, loaded.task, loaded.data, known.positions, seed=known.seed))
    return report | {
        "sampled_error": report["sampled_error"]["value"],
        "sampled": report["sampled_error"],
        "verdict": None,
    }


def test_addition(loaded: Any, known: argparse.Namespace) -> dict[str, Any]:
    from glassformer.verify.addition import measure_addition

    report = measure_addition(loaded, loaded.task, known.pairs, known.seed)
    share = report.argmax_accuracy
    counts = {
        "passed": round(share.value * share.positions),
        "total": share.positions,
        "accuracy": share.value,
    }
    failures = [asdict(failure) for failure in report.failures]
    return counts | {
        "qualified": report.qualified,
        "failures": failures,
        "distributions": {},
        "argmax_accuracy": asdict(share),
    }


def test_words(content: dict[str, Any]) -> str:
    from glassformer.commands.report import rule_lines

    if "total" in content:
        lines = [f"{content['target']}: {content['passed']:,} of {content['total']:,} answers right"]
        for wrong in content["failures"][:5]:
            sentence = f"{wrong['a']} + {wrong['b']} = {wrong['expected']}, the model says {wrong['got']}"
            lines.append(f"  {sentence}")
        return "\n".join(lines)
    lines = rule_lines(content | {"sampled_error": content["sampled"]})
    return "\n".join([content["target"], *(f"  {line}" for line in lines)])


def count_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands.counting import count_target

    content = count_target(known.target)
    width = max(map(len, content["parts"]), default=0)
    too_many = "not computed (too many parameters)"
    settled = "settled" if content["rank_settled"] else "a lower bound, still growing"
    rank = f"{content['rank']} over {content['rank_contexts']:,} contexts ({settled})"
    rank = too_many if content["rank"] is None else rank
    dead = too_many if content["dead"] is None else ", ".join(content["dead"]) or "none"
    words = [f"{known.target}: {content['unique']} parameters"]
    words += [f"  {name:<{width}}  {number}" for name, number in content["parts"].items()]
    words += [f"stored, ties written out {content['stored']}"]
    words += [f"non-zero {content['nonzero']}; learned {content['learned']}"]
    words += [f"constants in the forward pass {content['constants']}; rank of the Jacobian {rank}"]
    words += [f"dead: {dead}"]
    return content, "\n".join(words), 0


def list_verb(known: argparse.Namespace, options: dict[str, str]) -> Answer:
    from glassformer.commands import listing

    kinds = ("tasks", "models", "figures", "runs", "settings")
    if known.what not in (*kinds, "all"):
        raise unknown("list", known.what, kinds)
    wanted = kinds[:4] if known.what == "all" else (known.what,)
    content = {kind: getattr(listing, kind)() for kind in wanted}
    words = [line for kind in wanted for line in (f"{kind}:", *listing.lines(content[kind]), "")]
    return content, "\n".join(words).rstrip(), 0
