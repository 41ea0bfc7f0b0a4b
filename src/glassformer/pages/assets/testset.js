// The live error over a fixed test set, judged as in Python.

import { evaluate } from "./evaluate.js";
import { unpack } from "./unpack.js";

/** @typedef {import("./types.js").Payload} Payload */
/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {{wrong: number, total: number, share: number, margins: Float64Array}} TestError */

/** @typedef {(name: string) => Tensor} Pass  the intermediates of all inputs at once */
/** @typedef {{tokens: Tensor, answers: Tensor|null, pass: (params: Object<string, Tensor>) => Pass,
 *   error: (params: Object<string, Tensor>, pass: Pass) => TestError}} TestSet */
/**
 * @typedef {{places: ArrayLike<number>, items: ArrayLike<number>}} Asked  the position of each input that is
 *   judged
 */

/**
 * `pass` reads the test set, `error` judges what a pass found.
 * @param {Payload} payload @param {import("./types.js").Family} family @returns {TestSet}
 */
export function testSetOf(payload, family) {
  const tokens = paddedTo(payload.model.places, unpack(payload.test.tokens));
  const answers = payload.test.answers && unpack(payload.test.answers);
  const total = tokens.shape[1];
  const { asked, judge } = family.judge(payload);
  return {
    tokens,
    answers,
    pass: (params) => evaluate(payload.model.programs.forward, { ...params, tokens }, total),
    error(params, pass) {
      const logits = askedLogits(payload, params, pass, asked);
      const margins = new Float64Array(total);
      let wrong = 0;
      for (let item = 0; item < total; item++) {
        const verdict = judge(logits, item);
        margins[item] = verdict.margin;
        if (!verdict.right) wrong++;
      }
      return { wrong, total, share: total ? wrong / total : 0, margins };
    },
  };
}

/**
 * Logits `tok asked`. After the last attention positions are independent: from there on only the asked ones
 * are run.
 * @param {Payload} payload @param {Object<string, Tensor>} params @param {Pass} pass @param {Asked} asked
 */
function askedLogits(payload, params, pass, asked) {
  const { attention, prefix } = payload.model.layers[payload.model.layers.length - 1];
  const state = statesAt(pass(`${prefix}${attention ? "mid" : "stream"}`), asked);
  const count = asked.items.length;
  const program = payload.model.programs[attention ? "settle" : "readout"];
  const { shape, data } = evaluate(program, { ...params, state }, count)("logits");
  if (shape[2] === count) return data;
  // Logits that read no input are the same for all.
  return Float64Array.from({ length: shape[0] * count }, (_, n) => data[Math.floor(n / count)]);
}

/** `dim 1 asked` of `dim pos batch`. @param {Tensor} tensor @param {Asked} asked @returns {Tensor} */
function statesAt({ shape: [dims, every, batch], data }, { places, items }) {
  const count = items.length;
  const states = new Float64Array(dims * count);
  for (let dim = 0, at = 0; dim < dims; dim++) {
    for (let n = 0; n < count; n++, at++)
      states[at] = data[(dim * every + places[n]) * batch + (batch === 1 ? 0 : items[n])];
  }
  return { shape: [dims, 1, count], data: states };
}

/**
 * @typedef {{asked: Asked, judge: (logits: Float64Array, item: number) => {right: boolean, margin: number}}}
 *   Judge
 */

/**
 * A context is right where the best allowed token is above all others after its last position: a tie is not.
 * @param {Payload} payload @returns {Judge}
 */
export function contextJudge(payload) {
  const lengths = unpack(/** @type {import("./types.js").Packed} */ (payload.test.lengths)).data;
  const allowed = unpack(/** @type {import("./types.js").Packed} */ (payload.test.allowed)).data;
  const asked = { places: lengths.map((length) => length - 1), items: lengths.map((_, item) => item) };
  const judge = (/** @type {Float64Array} */ logits, /** @type {number} */ item) => {
    let [best, other] = [-Infinity, -Infinity];
    for (let at = item; at < logits.length; at += lengths.length) {
      if (allowed[at]) best = Math.max(best, logits[at]);
      else other = Math.max(other, logits[at]);
    }
    return { right: best > other, margin: best - other };
  };
  return { asked, judge };
}

/**
 * A sum is right where every digit is the first of the largest.
 * @param {Payload} payload @returns {Judge}
 */
export function sumJudge(payload) {
  const { shape, data: wanted } = unpack(/** @type {import("./types.js").Packed} */ (payload.test.answers));
  const [steps, total] = shape;
  const begin = /** @type {import("./types.js").AdderTask} */ (payload.task).prompt.length - 1;
  const asked = {
    places: wanted.map((_, at) => begin + Math.floor(at / total)),
    items: wanted.map((_, at) => at % total),
  };
  const judge = (/** @type {Float64Array} */ logits, /** @type {number} */ item) => {
    const stride = steps * total;
    let [right, margin] = [true, Infinity];
    for (let at = item; at < stride; at += total) {
      const gap = gapOver(logits, at, stride, logits.length / stride, wanted[at]);
      margin = Math.min(margin, gap.margin);
      right &&= gap.first;
    }
    return { right, margin };
  };
  return { asked, judge };
}

/**
 * A token's logit minus the best other logit, and whether it is the first of the largest.
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
 * Tokens `pos batch` padded with token 0, to which no earlier position attends.
 * @param {number} places @param {Tensor} tokens @returns {Tensor}
 */
export function paddedTo(places, tokens) {
  const batch = tokens.shape[1];
  const data = new Float64Array(places * batch);
  data.set(tokens.data.subarray(0, data.length));
  return { shape: [places, batch], data };
}
