"""Bars and signs of work: on a terminal's standard error, and nowhere else."""

import sys

import pytest

from glassformer.core.waiting import show_count_bar, show_share_bar, show_status


@pytest.mark.parametrize(("show", "is_terminal"), [(True, False), (False, True)])
def test_nothing_for_pipes_or_quiet_work(monkeypatch, capsys, show, is_terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    with (
        show_count_bar(10, show, "pairs") as tell,
        show_status("proving", show),
        show_share_bar(show) as share,
    ):
        assert tell is None
        share(0.5, "W_Q of layer 3")
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal_goes_to_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with show_count_bar(200_000, True, "pairs") as tell:
        tell(200_000)
    out, err = capsys.readouterr()
    assert out == ""
    assert "200000/200000" in err


def test_a_bar_of_shares_names_what_was_done_last(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with show_share_bar(True) as tell:
        tell(0.5, "W_Q of layer 3")
    out, err = capsys.readouterr()
    assert out == ""
    assert "50%" in err
    assert "W_Q of layer 3" in err


def test_waiting_leaves_standard_output_alone(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with show_status("proving glass-29", True):
        pass
    assert capsys.readouterr().out == ""
