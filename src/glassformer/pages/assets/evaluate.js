// Runs a program that Python wrote: node by node, in float64, only what is asked for. It works for any model.

import { PAIR_RUNS, joinedArrays, pairedBy, sizeOf, summedOver, viewedAs } from "./arrays.js";
import { erf } from "./erf.js";
import { linearOf, lookupOf, mixOf, scoresOf, softmaxOf } from "./kernels.js";

/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {import("./types.js").Program} Program */
/** @typedef {(values: Tensor[], option: any, shape: number[]) => Tensor} Operation */

const ROOT_HALF = Math.sqrt(0.5);

/** @type {Object<string, (x: Float64Array, out: Float64Array) => void>} */
const NUMBER_BY_NUMBER = {
  neg: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = -x[n];
  },
  exp: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = Math.exp(x[n]);
  },
  sqrt: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = Math.sqrt(x[n]);
  },
  sin: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = Math.sin(x[n]);
  },
  cos: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = Math.cos(x[n]);
  },
  abs: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = Math.abs(x[n]);
  },
  relu: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = x[n] > 0 ? x[n] : 0;
  },
  gelu: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = x[n] * (0.5 * (1 + erf(x[n] * ROOT_HALF)));
  },
  silu: (x, out) => {
    for (let n = 0; n < x.length; n++) out[n] = x[n] / (1 + Math.exp(-x[n]));
  },
};

/** @type {Object<string, Operation>} */
const OPERATIONS = {
  constant: (_, numbers, shape) => ({ shape, data: Float64Array.from(numbers) }),
  fill: (_, number, shape) => ({ shape, data: new Float64Array(sizeOf(shape)).fill(number) }),
  view: ([x], option, shape) => viewedAs(x, option, shape),
  reshape: ([x], _, shape) => ({ shape, data: x.data }),
  join: (values, axis, shape) => joinedArrays(values, axis, shape),
  sum: ([x], axis, shape) => summedOver(x, axis, shape),
  softmax: ([x], extra) => softmaxOf(x, extra),
  scores: ([queries, keys], _, shape) => scoresOf(queries, keys, shape),
  mix: ([weights, values], _, shape) => mixOf(weights, values, shape),
  linear: ([weight, x, bias], _, shape) => linearOf(weight, x, bias, shape),
  lookup: ([table, tokens], _, shape) => lookupOf(table, tokens, shape),
  scatter: ([values], places, shape) => scattered(values, places, shape),
};

/**
 * What a program makes of its inputs (parameters, and `tokens` or `state`), by name; nothing is computed twice.
 * @param {Program} program @param {Object<string, Tensor>} inputs @param {number} batch
 * @returns {(name: string) => Tensor}
 */
export function evaluate(program, inputs, batch) {
  /** @type {Tensor[]} */
  const found = new Array(program.nodes.length);
  /** @param {number} number @returns {Tensor} */
  const value = (number) => (found[number] ??= made(number));
  /** @param {number} number */
  function made(number) {
    const [operation, needed, option, sizes] = program.nodes[number];
    if (operation === "input" || operation === "parameter") return inputs[option];
    const shape = sizes.map((size) => (size === -1 ? batch : size));
    return applied(operation, needed.map(value), option, shape);
  }
  return (name) => {
    if (!(name in program.names)) throw new Error(`this model has no intermediate called ${name}`);
    return value(program.names[name]);
  };
}

/**
 * @param {string} operation @param {Tensor[]} values @param {any} option @param {number[]} shape
 * @returns {Tensor}
 */
function applied(operation, values, option, shape) {
  const pair = PAIR_RUNS[operation];
  if (pair) return pairedBy(pair, values[0], values[1], shape);
  const plain = NUMBER_BY_NUMBER[operation];
  if (!plain) return OPERATIONS[operation](values, option, shape);
  const data = new Float64Array(values[0].data.length);
  plain(values[0].data, data);
  return { shape, data };
}

/**
 * Values at given indices of a matrix, 0 elsewhere.
 * @param {Tensor} values @param {number[]} places @param {number[]} shape
 */
function scattered(values, places, shape) {
  const data = new Float64Array(sizeOf(shape));
  places.forEach((place, n) => (data[place] = values.data[n]));
  return { shape, data };
}
