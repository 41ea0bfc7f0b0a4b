"""Every parameter: all stored arrays under their names, each parameter once, whatever the architecture.

Other figures show what parts of them do; this one is the whole: its cells add up to the count of the model.
"""

import numpy as np
from matplotlib.figure import Figure

from glassformer.core.theme import Theme
from glassformer.models.forward import list_parameters
from glassformer.pictures.measure.subject import Subject
from glassformer.pictures.parts.frame import SMALL, make_sheet
from glassformer.pictures.parts.matrices import MOST_NUMBERS
from glassformer.pictures.parts.parameter_tables import arrange_parameters, draw_parameter_tables
from glassformer.pictures.picture import Data


def compute(subject: Subject) -> Data:
    in_order = list_parameters(subject.model.architecture)  # of the pass
    return {"parameters": {name: np.asarray(subject.model.params[name]) for name in in_order}}


def draw(data: Data, theme: Theme) -> Figure:
    boxes, height = arrange_parameters(data["parameters"], column=0.0)
    paper = make_sheet(theme, height + 0.9, title(data))
    draw_parameter_tables(paper, data["parameters"], boxes)
    up_to = f"{MOST_NUMBERS} x {MOST_NUMBERS}"
    legend = f"One colour scale for all, centred at 0. Values are printed up to {up_to}."
    paper.write(0, height + 0.5, legend, SMALL, color=theme.muted)
    return paper.figure


def title(data: Data) -> str:
    sizes = [array.size for array in data["parameters"].values()]
    return f"All {sum(sizes):,} parameters, in {len(sizes)} arrays of at most {max(sizes):,}"


def caption(data: Data) -> str:
    parts = ", ".join(f"{name} {array.size:,}" for name, array in data["parameters"].items())
    count = sum(array.size for array in data["parameters"].values())
    whole = f"Every parameter of the model, {count:,} in all, as stored: {parts}."
    return f"{whole} Tied arrays are stored once."
