"""Jobs for workers in other processes: in one unit the whole node is killed, the first time."""

from glassformer.sweeps.unit import run_unit
from tests.scale.jobs import waits_for_its_node_to_die

from .small import known_result

FATAL_SEED = 12  # that the unit begins with


def known_after_the_kill(folder, unit):
    waits_for_its_node_to_die(folder, int(unit.first_seed == FATAL_SEED))
    return known_result(unit)


def trained_after_the_kill(folder, unit):
    waits_for_its_node_to_die(folder, int(unit.first_seed == FATAL_SEED))
    return run_unit(unit, threads=1)
