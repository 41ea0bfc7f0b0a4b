"""Raw weights, and where a model's last token comes to."""

import numpy as np


def raw(subject, name):
    return np.asarray(subject.model.params[name], np.float64)


def last_z(subject):
    return subject.trial_traces["mid"][:, -1].astype(np.float64)
