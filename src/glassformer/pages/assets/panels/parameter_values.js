// Parameters by key, such as "attn.q.weight[0,1]": stored and changed values, and derivatives.

import { columnOf } from "../judge.js";
import { isSettable } from "../reading.js";

/** @typedef {import("../view.js").View} View */

const NUDGE = 1e-4; // of the parameter's size: central differences are then right to about 8 digits

/** @typedef {{key: string, name: string, flat: number, index: number[]}} Spot */
/** @typedef {Spot & {array: import("../types.js").Parameter}} ArraySpot */

/**
 * Every parameter of an array, in order.
 * @param {{name: string, shape: number[], size: number}} array @returns {Spot[]}
 */
export function spotsOf(array) {
  return Array.from({ length: array.size }, (_, flat) => {
    const index = unravelled(flat, array.shape);
    return { key: `${array.name}[${index.join(",")}]`, name: array.name, flat, index };
  });
}

/** @param {number} flat @param {number[]} shape */
function unravelled(flat, shape) {
  const index = new Array(shape.length);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = flat % shape[axis];
    flat = Math.floor(flat / shape[axis]);
  }
  return index;
}

/**
 * The array and the index in it that a key means; an array's name means its first parameter; null where there
 * is none.
 * @param {View} view @param {string|null} key @returns {ArraySpot|null}
 */
export function spotAt(view, key) {
  const whole = view.payload.model.parameters.find((each) => each.name === key);
  if (whole) return { ...spotsOf({ ...whole, size: 1 })[0], array: whole };
  const found = /^(.*)\[([\d,]*)\]$/.exec(key ?? "");
  const array = found && view.payload.model.parameters.find((each) => each.name === found[1]);
  if (!found || !array) return null;
  const index = found[2] === "" ? [] : found[2].split(",").map(Number);
  const inside = index.length === array.shape.length && index.every((each, axis) => each < array.shape[axis]);
  const flat = index.reduce((sum, each, axis) => sum * array.shape[axis] + each, 0);
  return inside ? { key: /** @type {string} */ (key), name: array.name, flat, index, array } : null;
}

/** @type {{for: View["lab"]|null, of: string, params: View["params"]}} */
let keptParams = { for: null, of: "", params: {} };

/** All parameters as stored, of the step and the seed shown. @param {View} view */
function storedParams(view) {
  const { step, seed } = view.state;
  const of = `${step} ${seed}`;
  if (keptParams.for !== view.lab || keptParams.of !== of)
    keptParams = { for: view.lab, of, params: view.lab.paramsOf({ ...view.state, changes: {} }) };
  return keptParams.params;
}

/** @param {View} view @param {Spot} spot */
export function storedValue(view, spot) {
  return storedParams(view)[spot.name].data[spot.flat];
}

/** @param {View} view @param {Spot} spot */
export function currentValue(view, spot) {
  return view.state.changes[spot.key] ?? storedValue(view, spot);
}

/**
 * The largest parameter of an array as stored: its colours do not change while one is dragged.
 * @param {View} view @param {string} name @returns {number}
 */
export function arrayLimit(view, name) {
  return storedParams(view)[name].data.reduce(
    (/** @type {number} */ most, /** @type {number} */ each) => Math.max(most, Math.abs(each)),
    0,
  );
}

/**
 * One hundredth of a parameter; of its array's largest where it is almost 0.
 * @param {View} view @param {Spot} spot
 */
export function onePercent(view, spot) {
  const limit = arrayLimit(view, spot.name) || 1;
  return Math.max(Math.abs(storedValue(view, spot)), 0.05 * limit) / 100;
}

/** The stored value is not a change. @param {View} view @param {Spot} spot @param {number} value */
export function changeNumber(view, spot, value) {
  if (!Number.isFinite(value)) return;
  const changes = { ...view.now.state.changes };
  if (value === storedValue(view.now, spot)) delete changes[spot.key];
  else changes[spot.key] = value;
  view.change({ changes });
}

/**
 * The number that a text spells, with a hyphen or a true minus; null where it is not a number, or too large.
 * @param {string} text
 */
export function spelledNumber(text) {
  const plain = text.trim().replace(/^[−–]/, "-").replace(/e[−–]/i, "e-");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return isSettable(value) ? value : null;
}

/**
 * Derivatives of the margin and of the logits at the cursor, by central difference.
 * @param {View} view @param {Spot} spot @returns {{margin: number, logits: number[], step: number}}
 */
export function slopesOf(view, spot) {
  const value = currentValue(view, spot);
  const step = NUDGE * Math.max(Math.abs(value), 0.05 * arrayLimit(view, spot.name), 1e-6);
  const [above, below] = [view.nudged(spot.key, value + step), view.nudged(spot.key, value - step)];
  const per = (/** @type {number} */ high, /** @type {number} */ low) =>
    (high - low) / (value + step - (value - step));
  const [up, down] = [columnOf(above.logits, view.place), columnOf(below.logits, view.place)];
  return {
    margin: per(marginAt(above, view.place), marginAt(below, view.place)),
    logits: up.map((high, token) => per(high, down[token])),
    step,
  };
}

/** @param {View} view @param {number} place @returns {number} */
export function marginAt(view, place) {
  return view.family.verdict(view, place).margin ?? NaN;
}
