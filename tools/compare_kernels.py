"""Do the GPU's kernels compute what the plain pass computes? Loss, slopes and drawn problems, model by model.

    python -m tools.compare_kernels                                  all adders of one layer, seconds each
    python -m tools.compare_kernels --models glass-47 any-8

Without a GPU there are no kernels to compare: tests/training/test_fused.py has Pallas interpret them.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from glassformer.core.errors import UserError
from glassformer.training.setup import set_up_jax

SEEDS = 1024  # side by side, as in training
STEP = 30_000  # half of the curriculum is over
LIMIT = 1e-3  # of the largest slope: float32 adds a batch in another order
HEAD = (
    f"{'model':<16}{'loss':>12}{'slopes':>12}{'problems':>12}  largest relative difference to the plain pass"
)


@dataclass(frozen=True)
class Agreement:
    """How far the kernels are from the plain pass, of the largest number."""

    model: str
    loss: float
    slopes: float
    same_problems: bool

    @property
    def is_close(self) -> bool:
        return self.same_problems and max(self.loss, self.slopes) < LIMIT

    def __str__(self) -> str:
        problems = "the same" if self.same_problems else "OTHERS"
        return f"{self.model:<16}{self.loss:>12.1e}{self.slopes:>12.1e}{problems:>12}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", help="zoo ids of adders")
    asked = parser.parse_args()
    try:
        set_up_jax("gpu")
    except UserError as error:
        sys.exit(str(error))
    from glassformer.runs.adders import ADDERS
    from glassformer.training.fused import fits_kernel

    names = asked.models or [
        name for name, run in ADDERS.items() if fits_kernel(run.architecture, run.train.batch)
    ]
    print(HEAD, flush=True)
    found = []
    for name in names:
        found.append(compare(name, ADDERS[name]))
        print(found[-1], flush=True)
    if not all(one.is_close for one in found):
        sys.exit("the kernels are not the plain pass")


def compare(name: str, run: Any) -> Agreement:
    """One batch of every seed near its start, both ways."""
    import jax
    import jax.numpy as jnp

    from glassformer.training.flat import make_flat_layout, sample_first_values
    from glassformer.training.fused import compute_fused_loss
    from glassformer.training.kernels import choose_sampler
    from glassformer.training.objective import compute_window_loss
    from glassformer.training.streams import make_stream_key

    model, flat, seeds = run.architecture, make_flat_layout(run.architecture), jnp.arange(SEEDS)
    source = run.task.sampler(run.data, model.context)

    def draw(source: Any, seed: Any) -> Any:
        return source.draw((), make_stream_key(seed, "steps"), jnp.array([STEP]), run.train.batch)[0]

    def differentiate(loss: Any) -> Any:
        def one(vector: Any, tokens: Any) -> Any:
            return jax.value_and_grad(lambda v: loss(model, flat, v, tokens, source.outputs))(vector)

        return jax.jit(jax.vmap(one))(vectors, tokens)

    vectors = jax.vmap(lambda seed: sample_first_values(model, make_stream_key(seed, "start")))(seeds)
    tokens, written = (
        jax.jit(jax.vmap(lambda seed, source=one: draw(source, seed)))(seeds)
        for one in (source, choose_sampler(source, run.train))
    )
    (value, slope), (our_value, our_slope) = map(differentiate, (compute_window_loss, compute_fused_loss))
    return Agreement(name, far(our_value, value), far(our_slope, slope), bool((tokens == written).all()))


def far(ours: Any, plain: Any) -> float:
    """The largest difference in a row, of the row's largest number; the worst row counts."""
    import numpy as np

    ours, plain = (np.asarray(one).reshape(len(one), -1).astype(np.float64) for one in (ours, plain))
    return float((np.abs(ours - plain).max(1) / np.abs(plain).max(1)).max())


if __name__ == "__main__":
    main()
