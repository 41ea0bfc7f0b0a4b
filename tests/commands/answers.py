"""What the verbs answer: one JSON object, with these fields."""

import json

import pytest

from glassformer.cli.program import main

SHARE = {"value": float, "low": float, "high": float, "positions": int}
RUN_FIELDS = {
    "folder": str,
    "seconds": float,
    "seeds": int,
    "best_seed": int,
    "argmax_accuracy": SHARE,
    "sampled_error": float,
    "loss": float,
    "entropy_floor": float,
    "model_steps_per_second": float,
    "verdict": str,
}
COUNT_FIELDS = {
    "stored": int,
    "unique": int,
    "nonzero": int,
    "learned": int,
    "constants": int,
    "both": int,
    "chosen": list,
    "bits": int,
    "routing": str,
    "category": str,
    "rank": int,
    "rank_contexts": int,
    "rank_settled": bool,
    "dead": list,
    "parts": dict,
    "at": str,
}
UNTRAINED_FIELDS = COUNT_FIELDS | {"bits": type(None)}  # random parameters say nothing of bits
SETTINGS = "--seeds 2 --steps 200 --train.evaluate_every 100 --measure.positions 1000 --measure.generated 100 --prove.seconds 1 --draw.figures none"


def answer(capsys, *words, status=0):
    """The one JSON object on standard output."""
    capsys.readouterr()
    assert main([*words, "--json"]) == status
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=pytest.fail)


def check_fields(content, fields):
    for name, kind in fields.items():
        if isinstance(kind, dict):
            check_fields(content[name], kind)
        else:
            assert type(content[name]) is kind, name


def silent_answer(capsys, *words, status=0):
    """The one JSON object on standard output."""
    assert main([*words, "--json"]) == status
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")
    return json.loads(out, parse_constant=pytest.fail)


def prove_json(capsys, *words, status=0):
    assert main(["prove", *words, "--json"]) == status
    return json.loads(capsys.readouterr().out)
