"""The matrices of a layer's MLP, plain or fused, and of experts, apart or stacked, with their router."""

from dataclasses import dataclass, replace

from glassformer.lens.adapt.build import cut_view, cut_view_part, list_mlp_weights
from glassformer.lens.adapt.config import CheckpointConfig
from glassformer.lens.adapt.families import DecoderFamily, ExpertNames, GatedNames
from glassformer.lens.adapt.names import TensorNames
from glassformer.lens.layout import Vector, View, Weight

_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts", "expert_count")


@dataclass(frozen=True)
class _LayerMlp:
    """A layer's MLP: its names, the width of the stream, and the norms that all of its matrices share."""

    names: TensorNames  # at its layer
    layer: int
    width: int
    before: Vector | None
    after: Vector | None

    def weights(
        self, gate: View, up: View, down: View, expert: int | None = None, mark: str = ""
    ) -> tuple[Weight, ...]:
        up, gate = replace(up, gain=self.before), replace(gate, gain=self.before)
        return list_mlp_weights(self.layer, up, replace(down, gain_after=self.after), gate, expert, mark)


def list_feedforward_weights(
    names: TensorNames, family: DecoderFamily, config: CheckpointConfig, layer: int, width: int
) -> tuple[Weight, ...]:
    """A layer's MLP, or its router and experts (a model may have both kinds of layer)."""
    here = names.at(layer)
    before = here.optional_gain(family.mlp_norm, width, family.gain_offset)
    place = _LayerMlp(
        here, layer, width, before, here.optional_gain(family.mlp_after, width, family.gain_offset)
    )
    if family.experts is None or not here.has(family.experts.router):
        return place.weights(*_make_gated_views(here, family.mlp, width))
    weights = _list_expert_weights(place, family.experts, config.count(*_COUNTS))
    if family.shared and here.has(family.shared.down):
        weights += place.weights(*_make_gated_views(here, family.shared, width), mark="_shared")
    return weights


def _make_gated_views(here: TensorNames, mlp: GatedNames, width: int) -> tuple[View, View, View]:
    """Gate, up and down; the number of units is what the last one reads."""
    units = here.columns(mlp.down)
    because = f"width {width}, with {units} units"
    down = here.matrix(mlp.down, (width, units), because)
    if here.has(mlp.gate):
        gate = here.matrix(mlp.gate, (units, width), because)
        return gate, here.matrix(mlp.up, (units, width), because), down
    both = here.matrix(mlp.gate_up or mlp.gate, (2 * units, width), because)
    return cut_view(both, 0, units), cut_view(both, units, 2 * units), down


def _list_expert_weights(place: _LayerMlp, experts: ExpertNames, count: int) -> tuple[Weight, ...]:
    """The router's matrix and each expert's."""
    here, width = place.names, place.width
    router = here.matrix(experts.router, (count, width), f"{count} experts, width {width}")
    weights = [Weight(place.layer, "W_router", replace(router, gain=place.before), "in")]
    for expert in range(count):
        views = _find_stacked_views(here, experts, width, count, expert)
        if views is None:
            apart = GatedNames(experts.gate, experts.up, experts.down)
            views = _make_gated_views(here.at(place.layer, expert), apart, width)
        weights += place.weights(*views, expert=expert)
    return tuple(weights)


def _find_stacked_views(
    here: TensorNames, experts: ExpertNames, width: int, count: int, expert: int
) -> tuple[View, View, View] | None:
    """Gate, up and down of an expert in tensors that hold all of them; None where they are apart."""
    if not experts.stacked_down or not here.has(experts.stacked_down):
        return None
    units = here.columns(experts.stacked_down)
    because = f"{count} experts, width {width}, with {units} units"
    down = cut_view_part(here.matrix(experts.stacked_down, (count, width, units), because), expert, width)
    if here.has(experts.stacked_gate_up):
        both = here.matrix(experts.stacked_gate_up, (count, 2 * units, width), because)
        return cut_view_part(both, 2 * expert, units), cut_view_part(both, 2 * expert + 1, units), down
    gate = here.matrix(experts.stacked_gate, (count, units, width), because)
    up = here.matrix(experts.stacked_up, (count, units, width), because)
    return cut_view_part(gate, expert, units), cut_view_part(up, expert, units), down
