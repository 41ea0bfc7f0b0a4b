// What the number line shows: the test sums at the cursor's digit, the current sum among them, and the borders.

import { columnOf } from "../judge.js";
import {
  lineBands,
  lineDecider,
  lineDot,
  lineSource,
  lineVectors,
  mainDirections,
} from "./numberline_axis.js";

/** @typedef {import("../types.js").AdderView} View */
/** @typedef {import("../judge.js").Digit} Digit */
/** @typedef {import("../types.js").Tensor} Tensor */

const LINE_SECOND = 0.05; // share of the variance from which on a second direction is drawn too
const LINE_ROOM = 0.06; // of the span, left free on both sides
const LINE_THIN = 1 / 60; // of the line: a thinner band is not visible, so the line is zoomed in on it
const LINE_ZOOMS = 12; // at most

/**
 * @typedef {{index: number, direction: Float64Array, share: number, x: Float64Array, now: number, low: number,
 *   high: number, bands: import("./numberline_axis.js").Band[], nearest: number|null, carryMove: number|null,
 *   digitMove: number|null, outside: number}} Line
 * @typedef {{digit: Digit, source: import("./numberline_axis.js").LineSource, lines: Line[],
 *   sums: ReturnType<typeof lineSums>}} LineData
 */

/** @param {View} view @returns {LineData|null} null where the cursor is at no answer digit */
export function numberlineData(view) {
  const digit = view.answer.digits.find((each) => each.place === view.place);
  if (!digit) return null;
  const source = lineSource(view);
  const vectors = lineVectors(view, source.moved, digit.place);
  const sums = lineSums(view, digit);
  const moved = Float64Array.from(columnOf(view.at(source.moved), digit.place));
  const state = Float64Array.from(columnOf(view.at(source.state), digit.place));
  const axes = mainDirections(vectors, 2).filter(({ share }, index) => index === 0 || share >= LINE_SECOND);
  const lines = axes.map(({ direction, share }, index) => {
    const x = Float64Array.from(vectors, (vector) => lineDot(vector, direction));
    const now = lineDot(moved, direction);
    const decide = lineDecider(view, source, state, direction, now);
    return { index, direction, share, x, now, ...lineWindow(decide, x, now), ...lineMoves(x, sums) };
  });
  return { digit, source, sums, lines: lines.map((line) => ({ ...line, ...lineReach(line) })) };
}

/**
 * For every test sum at a digit: the right digit, the column's total without carry, the carry, the query
 * token.
 * @param {View} view @param {Digit} digit
 */
function lineSums(view, digit) {
  const { task } = view.payload;
  const { tokens, answers } = view.lab.testSet();
  const batch = tokens.shape[1];
  const row = (/** @type {Tensor} */ tensor, /** @type {number} */ index) =>
    Array.from(tensor.data.subarray(index * batch, (index + 1) * batch), Number);
  const right = row(/** @type {Tensor} */ (answers), digit.step);
  const isTop = digit.column >= task.digits;
  const first = isTop ? right.map(() => 0) : row(tokens, task.x[digit.column]);
  const second = isTop ? right.map(() => 0) : row(tokens, task.y[digit.column]);
  const total = first.map((value, i) => value + second[i]);
  const carry = right.map((value, i) => (isTop ? value : (value - total[i] + 2 * task.base) % task.base));
  return { right, first, second, total, carry, own: row(tokens, digit.place), isTop };
}

/**
 * The stretch of the line that is drawn, with its bands: all sums, or what lies round the current state where
 * its band would be too thin to see.
 * @param {import("./numberline_axis.js").Decider} decide @param {Float64Array} x @param {number} now
 */
function lineWindow(decide, x, now) {
  const least = x.reduce((most, value) => Math.min(most, value), now);
  const most = x.reduce((best, value) => Math.max(best, value), now);
  const room = LINE_ROOM * (most - least) || 0.1 * Math.abs(now) || 1;
  let [low, high] = [least - room, most + room];
  let bands = lineBands(decide, low, high, now);
  for (let turn = 0; turn < LINE_ZOOMS; turn++) {
    const mine = bands.find(({ from, to }) => from <= now && now <= to);
    if (!mine || bands.length === 1 || mine.to - mine.from >= LINE_THIN * (high - low)) break;
    const reach = 6 * (mine.to - mine.from);
    if (!(now - reach < now && now < now + reach)) break;
    [low, high] = [now - reach, now + reach];
    bands = lineBands(decide, low, high, now);
  }
  return { low, high, bands };
}

/**
 * The border next to the current state, and how many sums lie outside the line.
 * @param {ReturnType<typeof lineWindow> & {x: Float64Array, now: number}} line
 */
function lineReach({ bands, now, x, low, high }) {
  const borders = bands.slice(1).map(({ from }) => from);
  const nearest = borders.reduce(
    (/** @type {number|null} */ best, /** @type {number} */ at) =>
      best === null || Math.abs(at - now) < Math.abs(best - now) ? at : best,
    null,
  );
  const outside = x.filter((value) => value < low || value > high).length;
  return { nearest, outside };
}

/**
 * By how much a carry, and one more in the column, move a state along the line: least squares over the test
 * sums, within each query token.
 * @param {Float64Array} x @param {{total: number[], carry: number[], own: number[]}} sums
 */
function lineMoves(x, { total, carry, own }) {
  const [a, c, y] = [total, carry, x].map((values) => lineWithin(values, own));
  const [aa, ac, cc, ay, cy] = [lineDot(a, a), lineDot(a, c), lineDot(c, c), lineDot(a, y), lineDot(c, y)];
  const both = aa * cc - ac * ac;
  if (both > 1e-9 * aa * cc)
    return { carryMove: (aa * cy - ac * ay) / both, digitMove: (cc * ay - ac * cy) / both };
  return { carryMove: cc > 0 ? cy / cc : null, digitMove: aa > 0 ? ay / aa : null };
}

/**
 * Values minus the mean of those with the same token.
 * @param {ArrayLike<number>} values @param {number[]} own
 */
function lineWithin(values, own) {
  /** @type {Map<number, {sum: number, count: number}>} */
  const groups = new Map();
  own.forEach((token, i) => {
    const { sum, count } = groups.get(token) ?? { sum: 0, count: 0 };
    groups.set(token, { sum: sum + values[i], count: count + 1 });
  });
  return Float64Array.from(values, (value, i) => {
    const { sum, count } = /** @type {{sum: number, count: number}} */ (groups.get(own[i]));
    return value - sum / count;
  });
}
