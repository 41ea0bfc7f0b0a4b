// The landscape of the next token as filled regions: exact borders between grid points, drawn as paths.

import { s } from "../dom.js";
import { mix } from "../colour.js";

/**
 * @typedef {{grid: number, winner: Uint8Array|Uint16Array, logits: Float64Array, X: (column: number) => number,
 *   Y: (row: number) => number}} Land
 */

/**
 * @typedef {{token: number, x: number, y: number, room: number}} RegionSpot  the roomiest point of a token's
 *   regions
 */

const LEGS = [
  [0, 0],
  [1, 0],
  [0, 1],
]; // of a triangle, by which its inner points are counted

/**
 * One path per token. Between two grid points with different winners the border is where their logits meet.
 * @param {Land} land @returns {Map<number, string>}
 */
export function regionPaths(land) {
  /** @type {Map<number, string[]>} */
  const parts = new Map();
  const put = (/** @type {number} */ token, /** @type {string} */ part) => {
    const list = parts.get(token);
    if (list) list.push(part);
    else parts.set(token, [part]);
  };
  for (let row = 0; row + 1 < land.grid; row++) regionRow(land, row, put);
  return new Map([...parts].map(([token, list]) => [token, list.join("")]));
}

/**
 * Cells with one winner join to one rectangle; the others are cut at the borders.
 * @param {Land} land @param {number} row @param {(token: number, part: string) => void} put
 */
function regionRow(land, row, put) {
  const { grid, winner } = land;
  const low = land.Y(row);
  const high = land.Y(row + 1);
  let start = -1;
  for (let column = 0; column < grid; column++) {
    const at = row * grid + column;
    const token = winner[at];
    const whole =
      column + 1 < grid &&
      token === winner[at + 1] &&
      token === winner[at + grid] &&
      token === winner[at + grid + 1];
    const ends = start >= 0 && (!whole || winner[row * grid + start] !== token);
    if (ends)
      put(
        winner[row * grid + start],
        `M${regionPx(land.X(start))} ` +
          `${regionPx(low)}H${regionPx(land.X(column))}V${regionPx(high)}H${regionPx(land.X(start))}Z`,
      );
    if (ends) start = -1;
    if (whole && start < 0) start = column;
    if (!whole && column + 1 < grid) regionCell(land, row, column, put);
  }
}

/**
 * The pieces of a cell whose corners have different winners: two triangles, in each of which every logit is
 * taken as linear. So a strip thinner than a cell is found too.
 * @param {Land} land @param {number} row @param {number} column
 * @param {(token: number, part: string) => void} put
 */
function regionCell(land, row, column, put) {
  const { grid } = land;
  const at = row * grid + column;
  const [left, right, low, high] = [land.X(column), land.X(column + 1), land.Y(row), land.Y(row + 1)];
  regionTriangle(land, [at, at + 1, at + grid], [left, low, right - left, high - low], put);
  regionTriangle(land, [at + grid + 1, at + grid, at + 1], [right, high, left - right, low - high], put);
}

/**
 * A triangle by its right-angled corner, in pixels, and how far its legs reach.
 * @param {Land} land @param {number[]} ends of the grid: the corner, the end across, the end up
 * @param {number[]} frame @param {(token: number, part: string) => void} put
 */
function regionTriangle({ winner, logits, grid }, [a, b, c], [x, y, across, up], put) {
  const size = grid * grid;
  const tokens = regionRivals(winner, logits, size, a, b, c);
  const lines = tokens.map((token) => {
    const here = logits[token * size + a];
    return { slope: [logits[token * size + b] - here, logits[token * size + c] - here], shift: here };
  });
  const regions = tokens.length > 1 ? convexRegions(lines, LEGS) : [{ token: 0, points: LEGS }];
  for (const { token, points } of regions) {
    let part = "";
    for (const [u, v] of points)
      part += `${part ? "L" : "M"}${regionPx(x + u * across)} ${regionPx(y + v * up)}`;
    put(tokens[token], `${part}Z`);
  }
}

/**
 * The tokens that may win inside: those that no corner's winner beats at every corner. Plain loops: it runs a
 * thousand times per picture.
 * @param {ArrayLike<number>} winner @param {Float64Array} logits @param {number} size of the grid
 * @param {number} a @param {number} b @param {number} c
 */
function regionRivals(winner, logits, size, a, b, c) {
  const rivals = [winner[a]];
  if (winner[b] !== winner[a]) rivals.push(winner[b]);
  if (winner[c] !== winner[a] && winner[c] !== winner[b]) rivals.push(winner[c]);
  const first = rivals.length;
  if (first === 1) return rivals;
  for (let token = 0, at = 0; at < logits.length; token++, at += size) {
    let isBeaten = false;
    for (let i = 0; i < first && !isBeaten; i++) {
      const best = rivals[i] * size;
      isBeaten =
        logits[at + a] <= logits[best + a] &&
        logits[at + b] <= logits[best + b] &&
        logits[at + c] <= logits[best + c];
    }
    if (!isBeaten) rivals.push(token);
  }
  return rivals;
}

/** @param {number} value */
function regionPx(value) {
  return Math.round(value * 10) / 10;
}

/**
 * The roomiest point of each token's regions, for its name: `room` in grid cells.
 * @param {Land} land @returns {RegionSpot[]}
 */
export function regionSpots(land) {
  const { grid, winner } = land;
  const room = regionRoom(winner, grid);
  /** @type {Map<number, number>} */
  const best = new Map();
  for (let i = 0; i < room.length; i++) {
    const known = best.get(winner[i]);
    if (known === undefined || room[i] > room[known]) best.set(winner[i], i);
  }
  return [...best].map(([token, i]) => {
    return { token, x: land.X(i % grid), y: land.Y(Math.floor(i / grid)), room: room[i] };
  });
}

/**
 * How many steps every grid point is from the border of its region or of the map.
 * @param {Uint8Array|Uint16Array} winner @param {number} grid
 */
function regionRoom(winner, grid) {
  const room = new Int16Array(grid * grid);
  const pass = (/** @type {number} */ i, /** @type {number} */ step) => {
    const beside = winner[i - step] === winner[i] ? room[i - step] : 0;
    const above = winner[i - step * grid] === winner[i] ? room[i - step * grid] : 0;
    return Math.min(beside, above) + 1;
  };
  const edge = (/** @type {number} */ i) =>
    i % grid === 0 || i % grid === grid - 1 || i < grid || i >= grid * (grid - 1);
  for (let i = 0; i < room.length; i++) if (!edge(i)) room[i] = pass(i, 1);
  for (let i = room.length - 1; i >= 0; i--) if (!edge(i)) room[i] = Math.min(room[i], pass(i, -1));
  return room;
}

/** @typedef {{slope: number[], shift: number}} Linear  slope . point + shift */

/**
 * The same, exactly, where every token's logit is linear in the plane: then each region is a convex polygon.
 * @param {Linear[]} logits one a token @param {number[][]} corners of the picture
 * @returns {Array<{token: number, points: number[][]}>}
 */
export function convexRegions(logits, corners) {
  const regions = logits.map((mine, token) => {
    let points = corners;
    for (const [other, theirs] of logits.entries()) {
      if (other === token || points.length < 3) continue;
      const ahead = {
        slope: [mine.slope[0] - theirs.slope[0], mine.slope[1] - theirs.slope[1]],
        shift: mine.shift - theirs.shift,
      };
      points = keptSide(points, ahead);
    }
    return { token, points };
  });
  return regions.filter(({ points }) => points.length >= 3);
}

/**
 * The part of a convex polygon where a linear function is above 0.
 * @param {number[][]} points @param {Linear} ahead
 */
function keptSide(points, { slope, shift }) {
  const ahead = (/** @type {number[]} */ point) => slope[0] * point[0] + slope[1] * point[1] + shift;
  const kept = [];
  let here = ahead(points[0]);
  for (let i = 0; i < points.length; i++) {
    const [from, to] = [points[i], points[(i + 1) % points.length]];
    const there = ahead(to);
    if (here > 0) kept.push(from);
    const part = here / (here - there);
    if (here > 0 !== there > 0)
      kept.push([from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])]);
    here = there;
  }
  return kept;
}

/**
 * The middle of a polygon, and how far in pixels its nearest corner-to-corner edge is.
 * @param {number[][]} points in pixels
 */
export function polygonSpot(points) {
  const [x, y] = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
  const room = Math.min(
    ...points.map((from, i) => {
      const to = points[(i + 1) % points.length];
      const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
      return long > 1e-9
        ? Math.abs((to[0] - from[0]) * (from[1] - y) - (from[0] - x) * (to[1] - from[1])) / long
        : Infinity;
    }),
  );
  return { x, y, room };
}

/**
 * The regions in pale token colours.
 * @param {Map<number, string>} paths @param {import("../types.js").Token[]} tokens
 * @param {import("../types.js").Colours} colours @param {number} [tint]
 */
export function regionShapes(paths, tokens, colours, tint = colours.tint) {
  return [...paths].map(([token, d]) => {
    const fill = mix(tokens[token]?.colour ?? colours.muted, colours.paper, tint);
    return s("path", { d, fill, stroke: fill, "stroke-width": 0.6, "data-region": token });
  });
}
