"""How vectors of any width are shown in two dimensions: as they are, or through one stated projection.

Two dimensions are drawn as they are. One is drawn along x, and what is passed as `spread` (a position, say)
keeps the points apart along y. More are projected on the two directions that hold most of the square sum of
some vectors; nothing is centred, so that the origin stays and q . k keeps its meaning.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Real

from glassformer.core.errors import require_value
from glassformer.core.words import format_percent


@dataclass(frozen=True, eq=False)
class Plane:
    """Two directions in a space of `dim` dimensions, orthonormal, through a point."""

    directions: Float[np.ndarray, "2 dim"]  # the second is zero where dim is 1
    through: Float[np.ndarray, " dim"]  # lifted points lie in the plane through here
    labels: tuple[str, str]
    note: str  # what a reader must know of the projection; empty where there is none
    share: float  # of the square sum of the vectors that the plane was made for

    def __call__(
        self, vectors: Float[np.ndarray, "*point dim"], spread: Real[np.ndarray, "*#point"] | float = 0.0
    ) -> Float[np.ndarray, "*point 2"]:
        """Where vectors are drawn."""
        flat: np.ndarray = np.asarray(vectors, np.float64) @ self.directions.T
        if self.is_line:
            flat[..., 1] = spread
        return flat

    @property
    def is_line(self) -> bool:
        return bool(self.directions.shape[1] == 1)

    def spread_over(self, name: str) -> "Plane":
        """The same, for figures that spread one dimension over something else than the position."""
        if not self.is_line:
            return self
        return replace(self, labels=(self.labels[0], name), note=self.note.replace(self.labels[1], name))

    def lift(self, points: Float[np.ndarray, "*point 2"]) -> Float[np.ndarray, "*point dim"]:
        """The vectors of the plane that are drawn at these points."""
        shift = np.asarray(points) - self.through @ self.directions.T
        found: np.ndarray = self.through + shift @ self.directions
        return found

    def limits(self, *clouds: Float[np.ndarray, "*_point 2"], room: float = 0.08) -> Float[np.ndarray, "2 2"]:
        """((x0, x1), (y0, y1)) around all points, with some room; equal lengths, so that angles are true."""
        flat = np.concatenate([np.asarray(cloud, np.float64).reshape(-1, 2) for cloud in clouds])
        low, high = flat.min(0), flat.max(0)
        size = np.maximum(high - low, 1e-6)
        half = (size if self.is_line else np.full(2, size.max())) * (0.5 + room)
        centre = (low + high) / 2
        return np.stack([centre - half, centre + half], 1)


def fit_plane(
    vectors: Float[np.ndarray, "*point dim"], name: str, dims: tuple[int, int] | None = None
) -> Plane:
    """The plane that shows these vectors best; `dims` asks for two dimensions instead."""
    rows = np.asarray(vectors, np.float64).reshape(-1, np.shape(vectors)[-1])
    width = rows.shape[1]
    if width == 1:
        line = np.array([[1.0], [0.0]])
        note = "one dimension, along x; y is the position"
        return Plane(line, rows.mean(0), (f"{name}[0]", "position"), note, 1.0)
    if width == 2:
        return Plane(np.eye(2), np.zeros(2), (f"{name}[0]", f"{name}[1]"), "", 1.0)
    if dims is not None:
        require_value(max(dims) < width and dims[0] != dims[1], "--dims", f"two of 0 to {width - 1}", dims)
        return _make_pair_plane(rows, name, dims)
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    share = float((sizes[:2] ** 2).sum() / max((sizes**2).sum(), 1e-300))
    chosen = _fix_signs(directions[:2])
    held = f"({format_percent(share, 0)} of the square sum)"
    note = f"projected from {width} dimensions on the two main directions {held}"
    return Plane(chosen, rows.mean(0), (f"{name}, direction 1", f"{name}, direction 2"), note, share)


def _make_pair_plane(rows: Float[np.ndarray, "point dim"], name: str, dims: tuple[int, int]) -> Plane:
    directions = np.eye(rows.shape[1])[list(dims)]
    share = float((rows[:, list(dims)] ** 2).sum() / max((rows**2).sum(), 1e-300))
    note = (
        f"dimensions {dims[0]} and {dims[1]} of {rows.shape[1]} "
        f"({format_percent(share, 0)} of the square sum)"
    )
    return Plane(directions, rows.mean(0), (f"{name}[{dims[0]}]", f"{name}[{dims[1]}]"), note, share)


def _fix_signs(directions: Float[np.ndarray, "2 dim"]) -> Float[np.ndarray, "2 dim"]:
    """Directions whose largest entry is positive: the same picture whatever the library's signs."""
    largest = np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1)
    return directions * np.where(largest < 0, -1.0, 1.0)
