"""Norms: x / sqrt(mean(x^2) + eps) times a gain that is learned, fixed, or none. Share one by a tie.

With gain 1, (3, 4) becomes (3, 4) / sqrt(12.5).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from glassformer.models.blocks import sum_squares
from glassformer.models.elementary import compute_one, sin
from glassformer.models.ops import Ops, Value
from glassformer.models.parameter import Parameter, Parameters, make_constant_parameter
from glassformer.models.part import Part
from glassformer.models.projection import fetch_parameter


@dataclass(frozen=True)
class NoNorm(Part):
    """x as it is."""

    kind: ClassVar[str] = "none"

    def parameters(self, name: str, dims: int) -> dict[str, Parameter]:
        return {}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value) -> Value:
        return x


@dataclass(frozen=True)
class RMSNorm(Part):
    """Root mean square 1, then one learned gain per dimension."""

    kind: ClassVar[str] = "rms"
    eps: float = 1e-5

    def list_constants(self, dims: int) -> dict[str, float]:
        return {"eps": self.eps}

    def parameters(self, name: str, dims: int) -> dict[str, Parameter]:
        return {f"{name}.gain": make_constant_parameter((dims,), 1.0)}

    def __call__(self, ops: Ops, params: Parameters, name: str, x: Value) -> Value:
        size = sum_squares(ops, x) / x.shape[0]  # pos batch
        gain = self.gain(ops, params, name, x.shape[0])
        scaled = x / ops.sqrt(size + self.eps)
        tighten = getattr(ops, "tighten_norm", None)  # numbers with bounds: a share is never above the whole
        return (tighten(x, scaled, self.eps) if tighten else scaled) * gain[:, None, None]

    def gain(self, ops: Ops, params: Parameters, name: str, dims: int) -> Value:
        return params[f"{name}.gain"]


@dataclass(frozen=True)
class FlatNorm(RMSNorm):
    """Parameter-free: the same fixed gain in every dimension."""

    kind: ClassVar[str] = "flat"
    factor: float = 1.0

    def list_constants(self, dims: int) -> dict[str, float]:
        return {"gain": self.factor, "eps": self.eps}

    def parameters(self, name: str, dims: int) -> dict[str, Parameter]:
        return {}

    def gain(self, ops: Ops, params: Parameters, name: str, dims: int) -> Value:
        return ops.array([self.factor] * dims)


@dataclass(frozen=True)
class SpiralNorm(RMSNorm):
    """Gain amplitude sin(2 pi d / period) + 1 in dimension d: a formula, nothing learned.

    `boost` names a learned vector z (MicroAdder-62's `position.z_hi`) that adds
    amplitude |z| / (sum |z| + 1) to the last dimensions.
    """

    kind: ClassVar[str] = "spiral"
    amplitude: float = 3.5
    period: float = 10.0
    boost: str = ""

    def list_constants(self, dims: int) -> dict[str, float]:
        return {"amplitude": self.amplitude, "period": self.period, "eps": self.eps}

    def parameters(self, name: str, dims: int) -> dict[str, Parameter]:
        return {}

    def gain(self, ops: Ops, params: Parameters, name: str, dims: int) -> Value:
        wave = [self.amplitude * compute_one(sin, 2 * math.pi * dim / self.period) + 1 for dim in range(dims)]
        if not self.boost:
            return ops.array(wave)
        size = ops.abs(fetch_parameter(params, self.boost))
        lift = self.amplitude * size / (ops.sum(size, 0) + 1)
        return ops.array(wave) + ops.join([ops.array([0.0] * (dims - size.shape[0])), lift])


Norm = NoNorm | RMSNorm | FlatNorm | SpiralNorm
