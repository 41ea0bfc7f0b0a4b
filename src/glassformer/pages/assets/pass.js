// One input through the model: what it reads and writes, and every intermediate by its name.

import { evaluate } from "./evaluate.js";
import { paddedTo } from "./testset.js";

/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {import("./types.js").Payload} Payload */
/** @typedef {Object<string, Tensor>} Params */

/**
 * One input read with one set of parameters; the cursor has no effect.
 * @param {Payload} payload @param {import("./types.js").Family} family @param {Params} params
 * @param {number[]} prompt what is read; of adders the problem alone
 */
export function readingOf(payload, family, params, prompt) {
  const { tokens, run, written } = family.run(payload, params, prompt);
  /** @type {Map<string, Tensor>} */
  const seen = new Map();
  /** @param {string} name */
  const at = (name) =>
    seen.get(name) ??
    (seen.set(name, cutTo(tokens.length, name, run(name))), /** @type {Tensor} */ (seen.get(name)));
  return { tokens, prompt, written, at };
}

/** All intermediates, by name. @param {Payload} payload @param {Params} params @param {number[]} tokens */
export function runOn(payload, params, tokens) {
  const column = { shape: [tokens.length, 1], data: Float64Array.from(tokens) };
  return evaluate(
    payload.model.programs.forward,
    { ...params, tokens: paddedTo(payload.model.places, column) },
    1,
  );
}

/**
 * Without the batch, and without the positions after the input.
 * @param {number} places @param {string} name @param {Tensor} value @returns {Tensor}
 */
function cutTo(places, name, value) {
  if (value.shape.length !== 3) return value;
  const isSquare = /\.(scores|weights)\.\d+$/.test(name);
  const rows = isSquare ? Math.min(places, value.shape[0]) : value.shape[0];
  const columns = Math.min(places, value.shape[1]);
  const data = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    data.set(value.data.subarray(row * value.shape[1], row * value.shape[1] + columns), row * columns);
  }
  return { shape: [rows, columns], data };
}
