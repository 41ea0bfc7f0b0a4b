"""Frozen output: what every message would do to one token, with everything else as it is.

`+` at p7 of `4 1 + 4 6 9 5 +` says 6; had attention looked at a 2 at p3 alone, it would say 2.
"""

from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from glassformer.draw.measure.demand import demand_words
from glassformer.draw.measure.landings import counted, sentence
from glassformer.draw.measure.landscape import probabilities
from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, sheet, text_width
from glassformer.draw.parts.matrices import matrix, name_ticks, scale_bar
from glassformer.draw.parts.message_sums import Carry, carry_of
from glassformer.draw.parts.queries_keys_values import head_title
from glassformer.draw.parts.sequence_matrices import HEADINGS, frame_cell, named
from glassformer.draw.parts.single_messages import alone, draw_strip, strip_height
from glassformer.draw.picture import Data, words_of
from glassformer.draw.theme import Theme, mixed, readable_on, token_colour

LEFT, GAP = 0.8, 0.9  # cm: names of the tokens, between two matrices
TALLEST, ROW = 15.0, 0.42  # cm: all rows together at most, and a row at most
BESIDE = 20  # places up to which the two matrices of a head stand side by side


def compute(subject: Subject) -> Data:
    subject.need_heads(3)
    carry = carry_of(subject, 0)
    messages = subject.messages[:, :, : len(carry.labels)].astype(np.float64)  # head tok pos dim
    states = alone(carry, messages)
    probability = probabilities(subject.model, states.reshape(-1, states.shape[-1]), from_mid=True)
    probability = probability.reshape(*states.shape[:-1], -1)  # head tok pos tok
    now = probabilities(subject.model, carry.mid[None], from_mid=True)[0]
    asked = subject.demanded(0)
    target = np.arange(len(now)) == now.argmax() if asked is None else asked
    return {
        "tokens": subject.tokens,
        "carry": carry,
        "sequence": np.asarray(subject.sequences[0]),
        "source": subject.source(0),
        "is_demanded": asked is not None,
        "target": target,  # tok: those whose probability is shown
        "probability": probability[..., target].sum(-1),  # head tok pos
        "winner": probability.argmax(-1),  # head tok pos
        "predicted": int(now.argmax()),
    }


def draw(data: Data, theme: Theme) -> Figure:
    heads, tokens, places = data["winner"].shape
    lines = heads * (1 if places <= BESIDE else 2)
    high = min(ROW, TALLEST / (lines * tokens)) * tokens
    top = strip_height(data["carry"]) + 0.2
    below = top + lines * (HEADINGS + high + 0.25)
    paper = sheet(theme, below + 0.65, title(data))
    draw_strip(paper, data["carry"], data["source"])
    across = paper.width - LEFT if places > BESIDE else (paper.width - LEFT - GAP) / 2
    for head in range(heads):
        boxes = []
        for which in range(2):
            line, column = (2 * head + which, 0) if places > BESIDE else (head, which)
            x, y = LEFT + column * (across + GAP), top + line * (HEADINGS + high + 0.25) + HEADINGS
            boxes.append(paper.axes(x, y, across, high))
        image = draw_shares(boxes[0], data, head, theme)
        draw_winners(boxes[1], data, head, theme)
    scale_bar(paper.axes(LEFT, below + 0.1, 2.6, 0.2), image, theme, ticks=[0, 50, 100])
    words = "probability in %; frames: the messages of this sequence"
    paper.write(LEFT + 2.9, below + 0.05, words, SMALL, color=theme.muted)
    return paper.figure


def draw_shares(axes: Axes, data: Data, head: int, theme: Theme) -> AxesImage:
    """How probable each message alone would make what is demanded, in percent."""
    places = [f"p{place}" for place in range(len(data["sequence"]))]
    shares = 100 * data["probability"][head]
    image = matrix(axes, shares, theme, data["tokens"], places, signed=False, largest=100.0)
    name = f"probability of {target_words(data)} (%)"
    finish(axes, data, theme, head_title(head, len(data["winner"]), name))
    return image


def draw_winners(axes: Axes, data: Data, head: int, theme: Theme) -> None:
    """What each message alone would make the place say; a run of equal cells is named once."""
    winner, tokens = data["winner"][head], data["tokens"]
    fills = [mixed(token_colour(token), theme.paper, 0.55) for token in tokens]
    axes.imshow(np.array([to_rgb(fill) for fill in fills])[winner], aspect="auto", interpolation="nearest")
    axes.spines[:].set_visible(False)
    name_ticks(axes, tokens, [f"p{place}" for place in range(winner.shape[1])])
    cell = axes.get_position().width * axes.figure.get_size_inches()[0] * 2.54 / winner.shape[1]
    there = np.zeros(winner.shape, bool)
    there[data["sequence"], np.arange(winner.shape[1])] = True
    for row, start, stop in runs(winner, there):
        token = tokens[winner[row, start]]
        if text_width(token, SMALL, "bold") <= (stop - start) * cell - 0.04:
            look = {"fontsize": SMALL, "weight": "bold", "color": readable_on(fills[winner[row, start]])}
            axes.text((start + stop - 1) / 2, row, token, ha="center", va="center_baseline", **look)
    finish(axes, data, theme, head_title(head, len(data["winner"]), "what it would say"))


def runs(
    winner: Int[np.ndarray, "tok pos"], single: Bool[np.ndarray, "tok pos"]
) -> list[tuple[int, int, int]]:
    """Row, start and stop of every stretch of equal cells in a row; `single` cells stand for themselves.

    >>> runs(np.array([[4, 4, 2, 2]]), np.array([[False, False, False, True]]))
    [(0, 0, 2), (0, 2, 3), (0, 3, 4)]
    """
    found = []
    for row, (cells, alone_here) in enumerate(zip(winner, single, strict=True)):
        parts = (np.diff(cells) != 0) | alone_here[1:] | alone_here[:-1]
        edges = [0, *(np.flatnonzero(parts) + 1).tolist(), len(cells)]
        found += [(row, start, stop) for start, stop in pairwise(edges)]
    return found


def finish(axes: Axes, data: Data, theme: Theme, name: str) -> None:
    """The title, and frames around the messages that are really there."""
    axes.set_title(name, pad=14)
    for place, token in enumerate(data["sequence"]):
        frame_cell(axes, int(token), place, theme.ink)


def target_words(data: Data) -> str:
    return demand_words(data["tokens"], data["target"])


def title(data: Data) -> str:
    carry: Carry = data["carry"]
    here, target, winner = named(carry.labels, len(carry.labels) - 1), data["target"], data["winner"]
    hits = target[winner]  # head tok pos
    law = words_of(data)["law"]
    if target.sum() > 1:
        count = counted(int(hits.sum()), hits.size)
        return sentence(f"{count} messages, each alone, would make {here} say what the {law} allows")
    own, answer = hits[:, target], data["tokens"][int(target.argmax())]
    others, rest = int(hits.sum() - own.sum()), hits.size - own.size
    count = counted(int(own.sum()), own.size)
    return sentence(
        f"{count} messages of {answer}, each alone, would make {here} say {answer}, "
        f"and {others or 'none'} of the {rest} others"
    )


def caption(data: Data) -> str:
    carry: Carry = data["carry"]
    heads, tokens, places = data["winner"].shape
    same = int((data["winner"] == np.arange(tokens)[None, :, None]).sum())
    law = words_of(data)["law"]
    whose = f"demanded by the {law}" if data["is_demanded"] else f"predicted; the {law} leaves it open"
    start = "e plus the message" if carry.is_residual else "the message (there are no residual connections)"
    several = carry.bias_words + (" and what the other heads write" if heads > 1 else "")
    return f"""The last place of {" ".join(carry.labels)}, all else frozen: the state after attention is
        replaced by {start} of one token at one place{several}, {heads * tokens * places} cases, and the
        feed-forward layer and the head say what follows. First the probability of {target_words(data)}
        ({whose}), then the most probable token, named once for equal neighbours; numbers
        are rounded to what fits. Frames: the messages that
        the sequence really holds; as it is, the model says {data["tokens"][data["predicted"]]}. {same} of all
        messages, each alone, would make it say the message's own token."""
