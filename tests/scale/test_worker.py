"""What travels between a driver and its worker: results and errors, also where they cannot be packed."""

import pickle

import pytest

from glassformer.core.errors import UserError
from glassformer.scale.answer import JobError
from glassformer.scale.worker import answer_letter, pack_letter, unpack_letter


def refuse(unit):
    raise UserError(f"no {unit}")


def make_nothing_that_travels(unit):
    return lambda: unit


def ask(job, unit):
    return unpack_letter(answer_letter(pack_letter(job), pack_letter(unit)))


def test_a_result_comes_back():
    assert ask(abs, -2) == 2
    assert ask(sorted, [3, 1]) == [1, 3]


def test_a_sentence_for_the_user_stays_one():
    with pytest.raises(UserError, match=r"^no bread$"):
        ask(refuse, "bread")


@pytest.mark.parametrize("job", [len, make_nothing_that_travels])
def test_a_bug_and_a_result_that_cannot_travel_are_errors_of_the_job(job):
    with pytest.raises(JobError):
        ask(job, 3)


def test_a_letter_that_cannot_be_read_is_answered_too():
    with pytest.raises(JobError, match="UnpicklingError"):
        unpack_letter(answer_letter(b"\x80\x05nonsense", pickle.dumps(1)))
