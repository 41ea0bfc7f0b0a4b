"""What readers of a verdict ask of it."""

from dataclasses import replace

from glassformer.proofs.verdict import HardestPair, Verdict

STEPS = [
    {"step": 0, "a": 5, "b": 7, "margin": 2.0, "bound": 1.5},
    {"step": 1, "a": 57, "b": 68, "margin": 0.5, "bound": 0.4},
]
SUM = Verdict(verdict="proved", hardest=STEPS[1], details={"hardest_by_step": STEPS})
WORST = [{"context": "7 +", "margin": -2.0}, {"context": "4 7 +", "margin": -1.0}]


def test_an_adders_hardest_pairs():
    assert SUM.steps == (HardestPair(0, 5, 7, 2.0, 1.5), HardestPair(1, 57, 68, 0.5, 0.4))
    assert SUM.hardest_step == SUM.steps[1]
    assert (SUM.hardest_input, SUM.wrong_input, SUM.wrong_pair) == ("57+68", None, None)
    assert Verdict().steps == () and Verdict().hardest_step is None


def test_contexts():
    found = Verdict(hardest="7 +", counterexample=WORST[1], details={"worst": WORST, "lawful": "proved"})
    assert (found.hardest_input, found.wrong_input, found.wrong_pair) == ("7 +", "4 7 +", None)
    assert (found.worst_contexts, found.lawful_verdict) == (("7 +", "4 7 +"), "proved")
    assert (Verdict().worst_contexts, Verdict().lawful_verdict) == ((), None)


def test_an_input_that_fails_refutes():
    found = replace(SUM, verdict="undecided", reason="no time").refuted_by({"a": 1, "b": 2}, "tried")
    assert (found.verdict, found.wrong_pair, found.source, found.reason) == ("refuted", (1, 2), "tried", "")


def test_no_two_verdicts_share_their_counts():
    assert Verdict().classes is not Verdict().classes
