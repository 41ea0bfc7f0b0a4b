// The live error: the same inputs at every change, judged as Python judges them.

import { evaluate } from "./evaluate.js";
import { unpack } from "./unpack.js";

/** @typedef {import("./types.js").Payload} Payload */
/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {{wrong: number, total: number, share: number, margins: Float64Array}} TestError */

/** @param {Payload} payload @returns {(params: Object<string, Tensor>) => TestError} */
export function testErrorOf(payload) {
  const tokens = paddedTo(payload.model.places, unpack(payload.test.tokens));
  const total = tokens.shape[1];
  const judge = payload.test.answers ? adderJudge(payload, unpack(payload.test.answers)) : ruleJudge(payload);
  return (params) => {
    const logits = evaluate(payload.model.programs.forward, { ...params, tokens }, total)("logits");
    const margins = new Float64Array(total);
    let wrong = 0;
    for (let item = 0; item < total; item++) {
      const verdict = judge(logits, item);
      margins[item] = verdict.margin;
      if (!verdict.right) wrong++;
    }
    return { wrong, total, share: total ? wrong / total : 0, margins };
  };
}

/**
 * A context is right where the best allowed token is above all others: a tie is not.
 * @param {Payload} payload @returns {(logits: Tensor, item: number) => {right: boolean, margin: number}}
 */
function ruleJudge(payload) {
  const lengths = unpack(/** @type {any} */ (payload.test.lengths)).data;
  const allowed = unpack(/** @type {any} */ (payload.test.allowed));
  return (logits, item) => {
    const [vocab, places, total] = logits.shape;
    let [best, other] = [-Infinity, -Infinity];
    for (
      let token = 0, at = (lengths[item] - 1) * total + item;
      token < vocab;
      token++, at += places * total
    ) {
      if (allowed.data[token * total + item]) best = Math.max(best, logits.data[at]);
      else other = Math.max(other, logits.data[at]);
    }
    return { right: best > other, margin: best - other };
  };
}

/**
 * A sum is right where every digit is the first of the largest.
 * @param {Payload} payload @param {Tensor} answers
 * @returns {(logits: Tensor, item: number) => {right: boolean, margin: number}}
 */
function adderJudge(payload, answers) {
  const begin = /** @type {import("./types.js").AdderTask} */ (payload.task).prompt.length - 1;
  return (logits, item) => {
    const [vocab, places, total] = logits.shape;
    let [right, margin] = [true, Infinity];
    for (let step = 0; step < answers.shape[0]; step++) {
      const wanted = answers.data[step * total + item];
      const at = (begin + step) * total + item;
      const gap = gapOver(logits.data, at, places * total, vocab, wanted);
      margin = Math.min(margin, gap.margin);
      right &&= gap.first;
    }
    return { right, margin };
  };
}

/**
 * A token's logit over the best other's, and whether it is the first of the largest.
 * @param {Float64Array} data @param {number} at @param {number} stride @param {number} vocab
 * @param {number} wanted
 */
function gapOver(data, at, stride, vocab, wanted) {
  const own = data[at + wanted * stride];
  let [before, behind] = [-Infinity, -Infinity];
  for (let token = 0; token < wanted; token++) before = Math.max(before, data[at + token * stride]);
  for (let token = wanted + 1; token < vocab; token++) behind = Math.max(behind, data[at + token * stride]);
  return { margin: own - Math.max(before, behind), first: own > before && own >= behind };
}

/**
 * Tokens `pos batch` with token 0 behind them, which no place before looks at.
 * @param {number} places @param {Tensor} tokens @returns {Tensor}
 */
export function paddedTo(places, tokens) {
  const batch = tokens.shape[1];
  const data = new Float64Array(places * batch);
  data.set(tokens.data.subarray(0, data.length));
  return { shape: [places, batch], data };
}
