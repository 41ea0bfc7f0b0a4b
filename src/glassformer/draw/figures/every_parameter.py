"""Every parameter: all stored arrays under their names, each number once, whatever the architecture.

Other figures show what parts of them do; this one is the whole: its cells add up to the count of the model.
"""

import numpy as np
from matplotlib.figure import Figure

from glassformer.draw.measure.subject import Subject
from glassformer.draw.parts.frame import SMALL, sheet
from glassformer.draw.parts.matrices import MOST_NUMBERS
from glassformer.draw.parts.parameter_tables import draw_tables, laid_out
from glassformer.draw.picture import Data
from glassformer.draw.theme import Theme
from glassformer.model.forward import parameters


def compute(subject: Subject) -> Data:
    in_order = parameters(subject.model.architecture)  # of the pass
    return {"parameters": {name: np.asarray(subject.model.params[name]) for name in in_order}}


def draw(data: Data, theme: Theme) -> Figure:
    boxes, height = laid_out(data["parameters"], column=0.0)
    paper = sheet(theme, height + 0.9, title(data))
    draw_tables(paper, data["parameters"], boxes)
    up_to = f"{MOST_NUMBERS} x {MOST_NUMBERS}"
    legend = f"One scale of colours for all, centred at 0. Numbers are printed up to {up_to}."
    paper.write(0, height + 0.5, legend, SMALL, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    sizes = [array.size for array in data["parameters"].values()]
    return f"All {sum(sizes):,} parameters, in {len(sizes)} arrays of at most {max(sizes):,} numbers"


def caption(data: Data) -> str:
    parts = ", ".join(f"{name} {array.size:,}" for name, array in data["parameters"].items())
    count = sum(array.size for array in data["parameters"].values())
    whole = f"Every stored number of the model, {count:,} in all, as it is stored: {parts}."
    return f"{whole} Tied arrays are stored once."
