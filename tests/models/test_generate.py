"""Writing: which windows the model is shown, and what becomes of its answers."""

from types import SimpleNamespace

import numpy as np

from glassformer.models.generate import measure_top_margin, write_greedy, write_sampled


class Counter:
    """Says the last token plus one; remembers the windows that it was shown."""

    def __init__(self, context=3, vocab=5):
        self.architecture = SimpleNamespace(context=context, vocab=vocab)
        self.windows = []

    def logits(self, tokens, last=None):
        assert last == 1
        self.windows.append(tokens.copy())
        following = (tokens[-1] + 1) % self.architecture.vocab
        return 100.0 * (np.arange(self.architecture.vocab)[:, None] == following)[:, None]


def test_greedy_writing_shows_the_last_tokens_that_fit():
    model = Counter()
    written = write_greedy(model, np.array([[0, 3], [1, 4]], np.int8), 4)
    assert written.T.tolist() == [[0, 1, 2, 3, 4, 0], [3, 4, 0, 1, 2, 3]]
    assert written.dtype == np.int8
    assert [window[:, 0].tolist() for window in model.windows] == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4]]


def test_sampled_writing_goes_to_the_length():
    model = Counter()
    written = write_sampled(model, np.array([[2]]), 6, np.random.default_rng(0))
    assert written[:, 0].tolist() == [2, 3, 4, 0, 1, 2]
    assert max(len(window) for window in model.windows) == 3


def test_draws_follow_the_models_chances():
    class Loaded(Counter):
        def logits(self, tokens, last=None):
            chances = np.array([0.5, 0.3, 0.2, 1e-30, 1e-30])
            return np.repeat(np.log(chances)[:, None, None], tokens.shape[1], 2).astype(np.float32)

    written = write_sampled(Loaded(), np.zeros((1, 20_000), int), 2, np.random.default_rng(1))
    shares = np.bincount(written[1], minlength=5) / 20_000
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.2, 0, 0], atol=0.015)


def test_the_same_generator_writes_the_same():
    class Blind(Counter):
        def logits(self, tokens, last=None):
            return np.zeros((5, 1, tokens.shape[1]))

    first, again, other = (
        write_sampled(Blind(), np.zeros((1, 4), int), 9, np.random.default_rng(seed)).tolist()
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_watcher_sees_the_logits_of_every_token():
    model, seen = Counter(), []
    write_greedy(model, np.array([[0, 3]]), 3, seen.append)
    assert [logits.argmax(0).tolist() for logits in seen] == [[1, 4], [2, 0], [3, 1]]


def test_margins_are_gaps_to_the_second_best():
    logits = np.array([[1.0, 2.0, 5.0], [4.0, 2.0, -1.0], [3.5, 0.0, -2.0]])
    np.testing.assert_array_equal(measure_top_margin(logits), [0.5, 0.0, 6.0])
