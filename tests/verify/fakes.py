"""Predictors whose every measure is known beforehand; they stand where a trained model would."""

from types import SimpleNamespace

import numpy as np

from glassformer.models.architecture import make_reference_architecture
from glassformer.tasks import add_digits, compute_state_distribution

NEVER = 1e-30  # chance given to tokens that cannot come


class Bayes:
    """The best predictor of windows of the data: the belief over states, turned by every token."""

    def __init__(self, automaton, data, context):
        self.automaton = automaton
        self.architecture = SimpleNamespace(context=context, vocab=len(automaton.tokens))
        chances = data.start_chances(context + 1)
        self.prior = chances @ compute_state_distribution(automaton, len(chances))

    def logits(self, tokens, last=None):
        states, batch = len(self.automaton.states), tokens.shape[1]
        belief = np.repeat(self.prior[:, None], batch, 1)  # state batch
        found = []
        for token in tokens:
            flow = belief * self.automaton.probability[:, token]
            belief = np.zeros((states, batch))
            for state in range(states):
                np.add.at(belief, (self.automaton.next[state, token], np.arange(batch)), flow[state])
            belief /= np.maximum(belief.sum(0), NEVER)
            found.append(np.log(self.automaton.probability.T @ belief + NEVER))
        return np.stack(found[-(last or len(found)) :], 1)


class Uniform:
    """Gives every token the same logit, and so is never right."""

    def __init__(self, vocab, context):
        self.architecture = SimpleNamespace(context=context, vocab=vocab)

    def logits(self, tokens, last=None):
        return np.zeros((self.architecture.vocab, last or len(tokens), tokens.shape[1]))


class Adder:
    """Writes the right digits; where `slips(x, y)` says so, the first digit written is one too large."""

    def __init__(self, task, slips=lambda x, y: np.zeros(x.shape[1], bool)):
        self.layout, self.slips = task.written(), slips
        self.architecture = make_reference_architecture(
            context=self.layout.length - 1, vocab=len(self.layout.labels)
        )
        self.widths = []

    def logits(self, tokens, last=None):
        self.widths.append(tokens.shape)
        x, y = tokens[list(self.layout.x_positions)], tokens[list(self.layout.y_positions)]
        place = len(tokens)
        digit = add_digits(x, y, 10)[list(self.layout.z_positions).index(place)]
        if place == self.layout.prompt_length:
            digit = (digit + self.slips(x, y)) % 10
        return (np.arange(self.architecture.vocab)[:, None] == digit).astype(float)[:, None]
