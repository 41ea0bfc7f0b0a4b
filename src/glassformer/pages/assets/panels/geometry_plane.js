// How vectors of any width are shown in two dimensions: as they are, one along x, or two chosen dimensions of
// more.

/** @typedef {import("../view.js").View} View */

/**
 * `dims` are the dimensions along x and y; one dimension alone is spread along y by the position.
 * @typedef {{name: string, width: number, dims: number[], share: number, isLine: boolean, labels: [string,
 *   string]}} Plane
 */

/**
 * The plane that some vectors are shown in: the wished dimensions, or the two of the largest variance.
 * @param {string} name @param {number[][]} vectors @param {number[]|null} wished @returns {Plane}
 */
export function planeFor(name, vectors, wished) {
  const width = vectors[0]?.length ?? 0;
  const spreads = Array.from({ length: width }, (_, dim) => varianceOf(vectors, dim));
  const fits = wished !== null && wished.length === 2 && wished.every((dim) => dim < width);
  const dims = width === 1 ? [0] : width === 2 ? [0, 1] : fits ? wished : largestTwo(spreads);
  const all = spreads.reduce((sum, one) => sum + one, 0);
  const share = all > 0 ? dims.reduce((sum, dim) => sum + spreads[dim], 0) / all : 1;
  const isLine = width === 1;
  return {
    name,
    width,
    dims,
    share,
    isLine,
    labels: [`${name}[${dims[0]}]`, isLine ? "position" : `${name}[${dims[1]}]`],
  };
}

/** @param {number[][]} vectors @param {number} dim */
function varianceOf(vectors, dim) {
  const values = vectors.map((vector) => vector[dim]).filter(Number.isFinite);
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
}

/** The two largest, in the order of the dimensions. @param {number[]} spreads */
function largestTwo(spreads) {
  const order = spreads.map((_, dim) => dim).sort((a, b) => spreads[b] - spreads[a] || a - b);
  return order.slice(0, 2).sort((a, b) => a - b);
}

/**
 * Where a vector is drawn; `place` is the y of a plane with one dimension.
 * @param {Plane} plane @param {number[]} vector @param {number} [place]
 */
export function spotOf(plane, vector, place = 0) {
  return [vector[plane.dims[0]], plane.isLine ? place : vector[plane.dims[1]]];
}

/**
 * Which dimensions a plane shows; empty where it shows all.
 * @param {Plane} plane @param {string} about
 */
export function planeNote(plane, about) {
  if (plane.isLine) return `${about}: one dimension, along x; y is the position.`;
  if (plane.width <= 2) return "";
  const share = Math.floor(plane.share * 1000) / 10;
  const [first, second] = plane.dims;
  return `${about}: dimensions ${first} and ${second} of ${plane.width} (${share}% of the variance shown).`;
}

/**
 * Lowest and highest of what is drawn on both axes, with room.
 * @param {number[][]} spots @param {number} room @returns {{x: [number, number], y: [number, number]}}
 */
export function domainsOf(spots, room) {
  const [x, y] = [0, 1].map((axis) => {
    const values = spots.map((spot) => spot[axis]).filter(Number.isFinite);
    const low = Math.min(...values);
    const high = Math.max(...values);
    if (!values.length) return [-1, 1];
    const pad = high > low ? (high - low) * room : Math.max(0.5, Math.abs(high) * room);
    return [low - pad, high + pad];
  });
  return { x: /** @type {[number, number]} */ (x), y: /** @type {[number, number]} */ (y) };
}

/** @param {number[]} spot */
export function isDrawn(spot) {
  return Number.isFinite(spot[0]) && Number.isFinite(spot[1]);
}

/**
 * The part of the line slope . point + shift = 0 inside a rectangle; null where it misses it.
 * @param {number[]} slope @param {number} shift @param {number[][]} limits @returns {number[][]|null}
 */
export function clippedLine(slope, shift, limits) {
  const size = slope[0] ** 2 + slope[1] ** 2;
  if (!(size > 0) || !Number.isFinite(shift)) return null;
  const foot = slope.map((one) => (-shift * one) / size);
  const along = [-slope[1] / Math.sqrt(size), slope[0] / Math.sqrt(size)];
  let [start, end] = [-Infinity, Infinity];
  for (const axis of [0, 1]) {
    const [low, high] = limits[axis];
    if (along[axis] === 0 && (foot[axis] < low || foot[axis] > high)) return null;
    if (along[axis] === 0) continue;
    const ends = [(low - foot[axis]) / along[axis], (high - foot[axis]) / along[axis]].sort((a, b) => a - b);
    [start, end] = [Math.max(start, ends[0]), Math.min(end, ends[1])];
  }
  return start < end
    ? [start, end].map((step) => [foot[0] + step * along[0], foot[1] + step * along[1]])
    : null;
}
