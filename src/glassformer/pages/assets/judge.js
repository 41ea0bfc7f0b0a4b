// What is right and its margin: a rule's demands, an adder's sum, and the error over the test set.

import { unpack } from "./unpack.js";

/** @typedef {import("./types.js").Payload} Payload */
/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {import("./types.js").AdderTask} AdderTask */
/**
 * @typedef {{demand: boolean, allowed: number[], winner: number, right: boolean|null, margin: number}}
 *   RuleAnswer
 */
/**
 * @typedef {{step: number, column: number, place: number, token: number, wanted: number, margin: number,
 *   carry: number}} Digit
 */
/**
 * @typedef {{a: bigint, b: bigint, expected: string, got: string, right: boolean, margin: number, digits:
 *   Digit[]}} SumAnswer
 */

/**
 * What must follow a context, as Python's Demands.of: null where nothing is demanded.
 * @param {Payload} payload @returns {(tokens: number[]) => number[]|null}
 */
export function demandsOf(payload) {
  const task = /** @type {import("./types.js").RuleTask} */ (payload.task);
  const [next, full, beginning, allowed] = [task.next, task.window, task.beginning, task.allowed].map(unpack);
  const vocab = next.shape[1];
  return (tokens) => {
    let read = 0;
    for (let place = tokens.length - 1; place >= 0; place--) read = next.data[read * vocab + tokens[place]];
    const demand = (tokens.length === payload.model.context ? full : beginning).data[read];
    if (demand === 0) return null;
    return Array.from({ length: vocab }, (_, token) => token).filter(
      (token) => allowed.data[demand * vocab + token],
    );
  };
}

/**
 * The logits at a position against what is allowed there.
 * @param {number[]} logits @param {number[]|null} allowed @returns {RuleAnswer}
 */
export function ruleAnswer(logits, allowed) {
  const winner = largest(logits);
  if (allowed === null) {
    const every = logits.map((_, token) => token);
    return {
      demand: false,
      allowed: every,
      winner,
      right: null,
      margin: marginOf(logits, (token) => token === winner),
    };
  }
  const margin = marginOf(logits, (token) => allowed.includes(token));
  return { demand: true, allowed, winner, right: margin > 0, margin };
}

/**
 * Best of the right tokens minus best of the others.
 * @param {ArrayLike<number>} logits @param {(token: number) => boolean} isRight
 */
function marginOf(logits, isRight) {
  let best = -Infinity;
  let other = -Infinity;
  for (let token = 0; token < logits.length; token++) {
    if (isRight(token)) best = Math.max(best, logits[token]);
    else other = Math.max(other, logits[token]);
  }
  return best - other;
}

/** The first of the largest. @param {ArrayLike<number>} numbers */
export function largest(numbers) {
  let best = 0;
  for (let n = 1; n < numbers.length; n++) if (numbers[n] > numbers[best]) best = n;
  return best;
}

/**
 * One column of `tok pos` (or of `tok pos batch`).
 * @param {Tensor} logits @param {number} place @param {number} [item]
 */
export function columnOf(logits, place, item = 0) {
  const [vocab, places, batch = 1] = logits.shape;
  return Array.from({ length: vocab }, (_, token) => logits.data[(token * places + place) * batch + item]);
}

/** The two numbers of a prompt. @param {AdderTask} task @param {number[]} prompt */
function addends(task, prompt) {
  const number = /** @type {(places: number[]) => bigint} */ (places) =>
    places.reduce((sum, place, k) => sum + BigInt(prompt[place]) * BigInt(task.base) ** BigInt(k), 0n);
  return { a: number(task.x), b: number(task.y) };
}

/** Digit k of a number, 0 is the units. @param {AdderTask} task @param {bigint} number @param {number} k */
export function digitAt(task, number, k) {
  const base = BigInt(task.base);
  return Number((number / base ** BigInt(k)) % base);
}

/** The right answer's tokens, in the order of writing. @param {AdderTask} task @param {number[]} prompt */
export function rightAnswer(task, prompt) {
  const { a, b } = addends(task, prompt);
  const tokens = new Array(task.z.length);
  task.z.forEach((place, k) => (tokens[place - task.prompt.length] = digitAt(task, a + b, k)));
  return tokens;
}

/**
 * What an adder wrote.
 * @param {AdderTask} task @param {string[]} labels @param {number[]} prompt @param {number[]} written
 * @param {Tensor} logits @returns {SumAnswer}
 */
export function sumAnswer(task, labels, prompt, written, logits) {
  const { a, b } = addends(task, prompt);
  const wanted = rightAnswer(task, prompt);
  const digits = written.map((token, step) => {
    const place = prompt.length + step - 1;
    const column = task.z.indexOf(place + 1);
    const margin = marginOf(columnOf(logits, place), (other) => other === wanted[step]);
    return { step, column, place, token, wanted: wanted[step], margin, carry: carryInto(task, a, b, column) };
  });
  const [expected, got] = [String(a + b), spelled(task, labels, prompt.length, written)];
  return {
    a,
    b,
    expected,
    got,
    right: got === expected,
    margin: Math.min(...digits.map((digit) => digit.margin)),
    digits,
  };
}

/**
 * The carry out of the columns below.
 * @param {AdderTask} task @param {bigint} a @param {bigint} b @param {number} column
 */
function carryInto(task, a, b, column) {
  const power = BigInt(task.base) ** BigInt(column);
  return Number(((a % power) + (b % power)) / power);
}

/**
 * The tokens read as a number; as a text where not all of them are digits.
 * @param {AdderTask} task @param {string[]} labels @param {number} begin @param {number[]} written
 */
function spelled(task, labels, begin, written) {
  const highestFirst = task.z.map((place) => written[place - begin]).reverse();
  if (highestFirst.some((token) => token >= task.base)) return highestFirst.map((token) => labels[token]).join("");
  return String(highestFirst.reduce((sum, token) => sum * BigInt(task.base) + BigInt(token), 0n));
}
