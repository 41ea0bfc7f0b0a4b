// The last parts of the model on the points of a picture: the winning token, and each unit's hinge.

import { clippedLine } from "./geometry_plane.js";
import { convexRegions } from "./regions.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./geometry_plane.js").Plane} Plane */
/** @typedef {import("../chart.js").Plot} Plot */

const LAND_GRID = 44; // points along each side; borders between them are exact where logits are linear
const MOVING_GRID = 22; // while a checkpoint or a parameter is dragged
const AFFINE = 1e-9; // relative: what rounding may leave of a difference that should be 0

/** The corners of a picture, ((x0, x1), (y0, y1)). @param {Plot} chart */
function limitsOf({ invX, invY, box }) {
  return [
    [invX(box.left), invX(box.left + box.width)],
    [invY(box.top + box.height), invY(box.top)],
  ];
}

/**
 * The winning token at every point of a picture, through `base`; null where logits are not finite.
 * @param {View} view @param {"settle"|"readout"} kind @param {Plane} plane @param {number[]} base
 * @param {Plot} chart @returns {import("./regions.js").Land|null}
 */
export function landOf(view, kind, plane, base, chart) {
  const grid = view.isMoving ? MOVING_GRID : LAND_GRID;
  const land = view.landscape(kind, planeDims(plane), fromEdge(limitsOf(chart), grid), grid, base);
  if (Number.isNaN(land.logits.data[0] + land.logits.data[land.logits.data.length - 1])) return null;
  const { left, top, width, height } = chart.box;
  const step = 1 / (grid - 1);
  return {
    grid,
    winner: land.winner,
    logits: land.logits.data,
    X: (column) => left + width * column * step,
    Y: (row) => top + height * (1 - row * step),
  };
}

/**
 * The same as polygons where every logit is linear in the plane; null where one is not.
 * @param {View} view @param {Plane} plane @param {number[]} base @param {Plot} chart
 */
export function exactLandOf(view, plane, base, chart) {
  const limits = limitsOf(chart);
  const probes = probesOf(limits);
  const logits = throughAt(view, "readout", "logits", plane, base, probes).map((values) =>
    affineLine(values, probes),
  );
  if (!logits.every((line) => line !== null)) return null;
  const [[x0, x1], [y0, y1]] = limits;
  const regions = convexRegions(logits, [
    [x0, y0],
    [x1, y0],
    [x1, y1],
    [x0, y1],
  ]);
  return regions.map(({ token, points }) => ({
    token,
    points: points.map(([x, y]) => [chart.X(x), chart.Y(y)]),
  }));
}

/**
 * Three corners tell a linear function; the other points tell whether it is one.
 * @param {number[][]} limits
 */
function probesOf([[x0, x1], [y0, y1]]) {
  return [
    [x0, y0],
    [x1, y0],
    [x0, y1],
    [x1, y1],
    [(3 * x0 + x1) / 4, (y0 + 2 * y1) / 3],
  ];
}

/**
 * A landscape's points are the middles of its cells: these limits put the outer ones on the edges.
 * @param {number[][]} limits @param {number} grid
 */
function fromEdge(limits, grid) {
  return limits.map(([low, high]) => {
    const half = (high - low) / (grid - 1) / 2;
    return [low - half, high + half];
  });
}

/** One dimension alone stands for both. @param {Plane} plane @returns {[number, number]} */
function planeDims({ dims }) {
  return [dims[0], dims[dims.length - 1]];
}

/**
 * The output of the last part of the model at some points: rows of `name`, one number per point.
 * @param {View} view @param {"settle"|"readout"} kind @param {string} name @param {Plane} plane
 * @param {number[]} base @param {number[][]} spots
 */
function throughAt(view, kind, name, plane, base, spots) {
  const data = new Float64Array(base.length * spots.length);
  base.forEach((value, dim) => data.fill(value, dim * spots.length, (dim + 1) * spots.length));
  plane.dims.forEach((dim, axis) =>
    spots.forEach((spot, i) => void (data[dim * spots.length + i] = spot[axis])),
  );
  const { shape, data: found } = view.through(kind, { shape: [base.length, spots.length], data })(name);
  return Array.from({ length: shape[0] }, (_, row) =>
    spots.map((_, i) => found[shape[2] === 1 ? row : row * spots.length + i]),
  );
}

/**
 * @typedef {{line: {slope: number[], shift: number}|null, pieces: number[][][]}} Hinge  as an equation where
 *   it is straight, and as pieces
 */

/**
 * Where each unit of the last layer switches: what it bends is 0 there.
 * @param {View} view @param {Plane} plane @param {number[]} base @param {Plot} chart @returns {Hinge[]}
 */
export function hingesOf(view, plane, base, chart) {
  const limits = limitsOf(chart);
  const probes = probesOf(limits);
  const units = throughAt(view, "settle", "bent", plane, base, probes);
  const lines = units.map((values) => affineLine(values, probes));
  if (lines.every((line) => line !== null)) {
    return lines.map((line) => ({
      line,
      pieces: [clippedLine(line.slope, line.shift, limits)].filter((piece) => piece !== null),
    }));
  }
  const spots = Array.from({ length: LAND_GRID * LAND_GRID }, (_, i) => [
    betweenLimits(limits[0], i % LAND_GRID),
    betweenLimits(limits[1], Math.floor(i / LAND_GRID)),
  ]);
  return throughAt(view, "settle", "bent", plane, base, spots).map((field) => ({
    line: null,
    pieces: contourPieces(field, spots),
  }));
}

/** @param {number[]} range @param {number} step of LAND_GRID - 1 */
function betweenLimits([low, high], step) {
  return low + ((high - low) * step) / (LAND_GRID - 1);
}

/**
 * The equation of what is 0 on the line, from three corners; null where the other probes do not lie on it.
 * @param {number[]} values @param {number[][]} probes
 */
function affineLine(values, probes) {
  const [origin, right, up] = probes;
  const slope = [
    (values[1] - values[0]) / (right[0] - origin[0]),
    (values[2] - values[0]) / (up[1] - origin[1]),
  ];
  const shift = values[0] - slope[0] * origin[0] - slope[1] * origin[1];
  const largest = Math.max(...values.map(Math.abs));
  const fits = probes.every(
    ([x, y], i) => !(Math.abs(slope[0] * x + slope[1] * y + shift - values[i]) > AFFINE * largest),
  );
  return fits ? { slope, shift } : null;
}

/** Where a field over the grid is 0, as short lines. @param {number[]} field @param {number[][]} spots */
function contourPieces(field, spots) {
  const pieces = [];
  for (let i = 0; i + LAND_GRID < field.length; i++) {
    if (i % LAND_GRID === LAND_GRID - 1) continue;
    const corners = [i, i + 1, i + LAND_GRID + 1, i + LAND_GRID];
    const ends = corners.flatMap((here, k) => {
      const there = corners[(k + 1) % 4];
      if (field[here] > 0 === field[there] > 0) return [];
      const part = field[here] / (field[here] - field[there]);
      return [[0, 1].map((axis) => spots[here][axis] + part * (spots[there][axis] - spots[here][axis]))];
    });
    for (let k = 0; k + 1 < ends.length; k += 2) pieces.push([ends[k], ends[k + 1]]);
  }
  return pieces;
}
