"""The matrices of a layer's MLP, plain or fused, and of experts, apart or stacked, with their router."""

from dataclasses import dataclass, replace

from glassformer.spectra.adapt.build import cut_view, mlp_weights, part_of
from glassformer.spectra.adapt.config import Config
from glassformer.spectra.adapt.families import Experts, Family, Gated
from glassformer.spectra.adapt.names import Names
from glassformer.spectra.layout import Vector, View, Weight

COUNTS = ("num_local_experts", "num_experts", "n_routed_experts", "expert_count")


@dataclass(frozen=True)
class Place:
    """A layer's MLP: its names, the width of the stream, and the norms that all of its matrices share."""

    names: Names  # at its layer
    layer: int
    width: int
    before: Vector | None
    after: Vector | None

    def weights(
        self, gate: View, up: View, down: View, expert: int | None = None, mark: str = ""
    ) -> tuple[Weight, ...]:
        up, gate = replace(up, gain=self.before), replace(gate, gain=self.before)
        return mlp_weights(self.layer, up, replace(down, gain_after=self.after), gate, expert, mark)


def feed_forward_weights(
    names: Names, family: Family, config: Config, layer: int, width: int
) -> tuple[Weight, ...]:
    """A layer's MLP, or its router and experts (a model may have both kinds of layer)."""
    here = names.at(layer)
    before = here.optional_gain(family.mlp_norm, width, family.gain_offset)
    place = Place(here, layer, width, before, here.optional_gain(family.mlp_after, width, family.gain_offset))
    if family.experts is None or not here.has(family.experts.router):
        return place.weights(*gated_views(here, family.mlp, width))
    weights = expert_weights(place, family.experts, config.count(*COUNTS))
    if family.shared and here.has(family.shared.down):
        weights += place.weights(*gated_views(here, family.shared, width), mark="_shared")
    return weights


def gated_views(here: Names, mlp: Gated, width: int) -> tuple[View, View, View]:
    """Gate, up and down; the number of units is what the last one reads."""
    units = here.columns(mlp.down)
    because = f"width {width}, with {units} units"
    down = here.matrix(mlp.down, (width, units), because)
    if here.has(mlp.gate):
        gate = here.matrix(mlp.gate, (units, width), because)
        return gate, here.matrix(mlp.up, (units, width), because), down
    both = here.matrix(mlp.gate_up or mlp.gate, (2 * units, width), because)
    return cut_view(both, 0, units), cut_view(both, units, 2 * units), down


def expert_weights(place: Place, experts: Experts, count: int) -> tuple[Weight, ...]:
    """The router's matrix and each expert's."""
    here, width = place.names, place.width
    router = here.matrix(experts.router, (count, width), f"{count} experts, width {width}")
    weights = [Weight(place.layer, "W_router", replace(router, gain=place.before), "in")]
    for expert in range(count):
        views = stacked_views(here, experts, width, count, expert)
        if views is None:
            apart = Gated(experts.gate, experts.up, experts.down)
            views = gated_views(here.at(place.layer, expert), apart, width)
        weights += place.weights(*views, expert=expert)
    return tuple(weights)


def stacked_views(
    here: Names, experts: Experts, width: int, count: int, expert: int
) -> tuple[View, View, View] | None:
    """Gate, up and down of an expert in tensors that hold all of them; None where they are apart."""
    if not experts.stacked_down or not here.has(experts.stacked_down):
        return None
    units = here.columns(experts.stacked_down)
    because = f"{count} experts, width {width}, with {units} units"
    down = part_of(here.matrix(experts.stacked_down, (count, width, units), because), expert, width)
    if here.has(experts.stacked_gate_up):
        both = here.matrix(experts.stacked_gate_up, (count, 2 * units, width), because)
        return part_of(both, 2 * expert, units), part_of(both, 2 * expert + 1, units), down
    gate = here.matrix(experts.stacked_gate, (count, units, width), because)
    up = here.matrix(experts.stacked_up, (count, units, width), because)
    return part_of(gate, expert, units), part_of(up, expert, units), down
