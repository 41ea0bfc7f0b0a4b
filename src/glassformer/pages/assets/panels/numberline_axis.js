// The number line: the principal directions of what attention adds, and the borders along them.

import { winnersOf } from "../view.js";

/** @typedef {import("../types.js").AdderView} View */

const LINE_GRID = 481; // points on a line, before borders are narrowed
const LINE_PARTS = 24; // each round cuts an interval into so many
const LINE_ROUNDS = 5; // 24^5 is 8 million: a border is then known to a billionth of the line
const LINE_MOST_BORDERS = 80; // more are noise, and are left as the grid has them
const LINE_TURNS = 300; // of power iteration, at most

/**
 * @typedef {{program: "settle"|"readout", moved: string, state: string, what: string}} LineSource
 * @typedef {{direction: Float64Array, share: number}} LineAxis
 * @typedef {{from: number, to: number, winner: number}} Band
 * @typedef {(points: Float64Array) => ArrayLike<number>} Decider  the token that wins at each point of a line
 * @typedef {{left: number, right: number, from: number, to: number}} Gap  another token wins at its right end
 */

/**
 * Where the rest of the model has no attention, so that the state at one position decides: in the middle of
 * the last layer, or at its end where that layer has no attention.
 * @param {View} view @returns {LineSource}
 */
export function lineSource(view) {
  const { layers } = view.payload.model;
  const layer = layers[layers.length - 1];
  if (layer.attention) {
    const what = layers.length > 1 ? "what the last attention layer adds" : "what attention adds";
    return { program: "settle", moved: `${layer.prefix}attn.output`, state: `${layer.prefix}mid`, what };
  }
  const name = `${layer.prefix}stream`;
  return { program: "readout", moved: name, state: name, what: "the final residual stream" };
}

/**
 * One vector per test sum, at one position: `batch` rows of `dim` numbers.
 * @param {View} view @param {string} name @param {number} place @returns {Float64Array[]}
 */
export function lineVectors(view, name, place) {
  const count = view.lab.testSet().tokens.shape[1];
  const { shape, data } = view.lab.testPass(view.state)(name);
  const [dims, places, batch] = shape;
  return Array.from({ length: count }, (_, one) =>
    Float64Array.from(
      { length: dims },
      (_, dim) => data[(dim * places + place) * batch + (batch === 1 ? 0 : one)],
    ),
  );
}

/**
 * The directions with the most variance, most first, with their shares of it.
 * @param {Float64Array[]} vectors @param {number} count @returns {LineAxis[]}
 */
export function mainDirections(vectors, count) {
  const covariance = lineCovariance(vectors);
  const total = covariance.reduce((sum, row, i) => sum + row[i], 0);
  const found = [];
  for (let k = 0; k < Math.min(count, covariance.length); k++) {
    const { direction, variance } = lineStrongest(covariance);
    found.push({ direction, share: total > 0 ? Math.max(0, variance) / total : 0 });
    covariance.forEach((row, i) => row.forEach((_, j) => (row[j] -= variance * direction[i] * direction[j])));
  }
  return found;
}

/** @param {Float64Array[]} vectors */
function lineCovariance(vectors) {
  const dims = vectors[0].length;
  const mean = Array.from(
    { length: dims },
    (_, i) => vectors.reduce((sum, v) => sum + v[i], 0) / vectors.length,
  );
  const covariance = Array.from({ length: dims }, () => new Float64Array(dims));
  for (const v of vectors)
    for (let i = 0; i < dims; i++)
      for (let j = 0; j < dims; j++)
        covariance[i][j] += ((v[i] - mean[i]) * (v[j] - mean[j])) / vectors.length;
  return covariance;
}

/**
 * Power iteration, from the column of the largest variance; the largest part of the direction is positive.
 * @param {Float64Array[]} covariance
 */
function lineStrongest(covariance) {
  const dims = covariance.length;
  const widest = covariance.reduce((best, row, i) => (row[i] > covariance[best][best] ? i : best), 0);
  let direction = Float64Array.from(covariance[widest]);
  if (!lineUnit(direction)) direction[widest] = 1;
  for (let turn = 0; turn < LINE_TURNS; turn++) {
    const next = Float64Array.from({ length: dims }, (_, i) => lineDot(covariance[i], direction));
    if (!lineUnit(next)) break;
    const moved = next.reduce((most, value, i) => Math.max(most, Math.abs(value - direction[i])), 0);
    direction = next;
    if (moved < 1e-15) break;
  }
  const largest = direction.reduce(
    (best, value, i) => (Math.abs(value) > Math.abs(direction[best]) + 1e-9 ? i : best),
    0,
  );
  if (direction[largest] < 0) direction = direction.map((value) => -value);
  const variance = covariance.reduce((sum, row, i) => sum + direction[i] * lineDot(row, direction), 0);
  return { direction, variance };
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function lineDot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Scales to length 1 in place; false where there is no length. @param {Float64Array} vector */
function lineUnit(vector) {
  const size = Math.sqrt(lineDot(vector, vector));
  if (!(size > 0)) return false;
  for (let i = 0; i < vector.length; i++) vector[i] /= size;
  return true;
}

/**
 * The token that the rest of the model writes if `state`, which stands at `now`, is moved to each of `points`.
 * @param {View} view @param {LineSource} source @param {Float64Array} state @param {Float64Array} direction
 * @param {number} now @returns {Decider}
 */
export function lineDecider(view, source, state, direction, now) {
  return (points) => {
    const batch = points.length;
    const data = new Float64Array(state.length * batch);
    for (let dim = 0; dim < state.length; dim++)
      for (let i = 0; i < batch; i++) data[dim * batch + i] = state[dim] + (points[i] - now) * direction[dim];
    return winnersOf(view.through(source.program, { shape: [state.length, batch], data })("logits"));
  };
}

/**
 * The stretches of a line on which one token wins, from `low` to `high`. The current state is looked at too:
 * it may stand on a stretch that is thinner than the grid.
 * @param {Decider} decide @param {number} low @param {number} high @param {number} now
 * @returns {Band[]}
 */
export function lineBands(decide, low, high, now) {
  const even = Array.from({ length: LINE_GRID }, (_, i) => low + ((high - low) * i) / (LINE_GRID - 1));
  const grid = Float64Array.from([...even, now].filter((x) => x >= low && x <= high)).sort();
  const winners = decide(grid);
  /** @type {Gap[]} */
  const gaps = [];
  for (let i = 1; i < grid.length; i++)
    if (winners[i] !== winners[i - 1])
      gaps.push({ left: grid[i - 1], right: grid[i], from: winners[i - 1], to: winners[i] });
  const borders =
    gaps.length > LINE_MOST_BORDERS
      ? gaps.map(({ left, right }) => (left + right) / 2)
      : lineBorders(decide, gaps);
  const ends = [low, ...borders, high];
  const middles = Float64Array.from({ length: ends.length - 1 }, (_, i) => (ends[i] + ends[i + 1]) / 2);
  const inside = decide(middles);
  return Array.from(middles, (_, i) => ({ from: ends[i], to: ends[i + 1], winner: inside[i] }));
}

/**
 * Every border within the gaps: behind the first one of a gap there may be more, of thin stretches.
 * @param {Decider} decide @param {Gap[]} gaps @returns {number[]}
 */
function lineBorders(decide, gaps) {
  /** @type {number[]} */
  const borders = [];
  while (gaps.length && borders.length < LINE_MOST_BORDERS) {
    let cuts = gaps.map(
      ({ left, right, from }) => /** @type {[number, number, number]} */ ([left, right, from]),
    );
    for (let round = 0; round < LINE_ROUNDS; round++) cuts = lineNarrowed(decide, cuts);
    borders.push(...cuts.map(([left, right]) => (left + right) / 2));
    const next = decide(Float64Array.from(cuts, ([, right]) => right));
    gaps = gaps.flatMap((gap, i) =>
      next[i] === gap.to || cuts[i][1] >= gap.right ? [] : [{ ...gap, left: cuts[i][1], from: next[i] }],
    );
  }
  return borders.sort((a, b) => a - b);
}

/**
 * Each gap cut into parts: the first part over which its left winner no longer wins.
 * @param {Decider} decide @param {Array<[number, number, number]>} gaps
 * @returns {Array<[number, number, number]>}
 */
function lineNarrowed(decide, gaps) {
  const inner = LINE_PARTS - 1;
  const at = (/** @type {number[]} */ [left, right], /** @type {number} */ part) =>
    left + ((right - left) * part) / LINE_PARTS;
  const points = Float64Array.from({ length: gaps.length * inner }, (_, i) =>
    at(gaps[Math.floor(i / inner)], (i % inner) + 1),
  );
  const winners = decide(points);
  return gaps.map((gap, index) => {
    let part = 1;
    while (part < LINE_PARTS && winners[index * inner + part - 1] === gap[2]) part++;
    return [at(gap, part - 1), at(gap, part), gap[2]];
  });
}
