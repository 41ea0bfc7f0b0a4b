// What a user types, and what a link asks for: read into tokens and state, or refused with what is valid.

import { quoted } from "./prose.js";
import { parsed } from "./store.js";

export const LARGEST_NUMBER = 1e30; // that a parameter may be set to: products of several stay finite

/** @typedef {import("./types.js").Payload} Payload */
/**
 * @typedef {{tokens: number[], input: string}|{error: string}} Reading  tokens, and the input as one would
 *   write it
 */

/** @param {Payload} payload @param {string} text @returns {Reading} */
export function readInput(payload, text) {
  return payload.kind === "rule" ? readRule(payload, text) : readSum(payload, text);
}

/** "4 7 +" or "4,7,+". @param {Payload} payload @param {string} text @returns {Reading} */
function readRule(payload, text) {
  const labels = payload.tokens.map((token) => token.label);
  const apart = labels.includes("+") ? text.replaceAll("+", " + ") : text;
  const words = apart.split(/[\s,]+/).filter((word) => word !== "");
  const most = payload.model.context;
  const valid = `type 1 to ${most} of the tokens ${labels.join(" ")}, parted by blanks`;
  const strange = words.find((word) => !labels.includes(word));
  if (strange !== undefined) return { error: `${quoted(strange)} is no token: ${valid}.` };
  if (words.length === 0) return { error: `Nothing to read: ${valid}.` };
  if (words.length > most)
    return { error: `${words.length} tokens are more than the context of ${most}: ${valid}.` };
  return { tokens: words.map((word) => labels.indexOf(word)), input: words.join(" ") };
}

/**
 * "57+68" or "57 68": the tokens of the problem, without its answer.
 * @param {Payload} payload @param {string} text @returns {Reading}
 */
function readSum(payload, text) {
  const task = /** @type {import("./types.js").AdderTask} */ (payload.task);
  const found = /^\s*(\d+)(?:\s*\+\s*|\s*,\s*|\s+)(\d+)\s*=?\s*$/.exec(text);
  const valid = `type two whole numbers of up to ${task.digits} digits, such as 57+68`;
  if (!found) return { error: `${noSumWords(text)}: ${valid}.` };
  const numbers = [found[1], found[2]].map((digits) => digits.replace(/^0+(?=\d)/, ""));
  const long = numbers.find((digits) => digits.length > task.digits);
  if (long !== undefined) return { error: `${quoted(long)} has more than ${task.digits} digits: ${valid}.` };
  const [a, b] = numbers.map(BigInt);
  return { tokens: promptOf(task, a, b), input: `${a}+${b}` };
}

/** What keeps a text from being a sum: the part that is no number, where there are two. @param {string} text */
function noSumWords(text) {
  const parts = text.split("+").map((part) => part.trim());
  const strange = parts.find((part) => !/^\d+$/.test(part));
  if (parts.length !== 2 || strange === undefined) return `${quoted(text.trim())} is no sum`;
  return strange === "" ? "A number is missing" : `${quoted(strange)} is no whole number`;
}

/** @param {import("./types.js").AdderTask} task @param {bigint} a @param {bigint} b */
function promptOf(task, a, b) {
  const tokens = [...task.prompt];
  const digit = /** @type {(number: bigint, k: number) => number} */ (number, k) =>
    Number((number / 10n ** BigInt(k)) % 10n);
  task.x.forEach((place, k) => (tokens[place] = digit(a, k)));
  task.y.forEach((place, k) => (tokens[place] = digit(b, k)));
  return tokens;
}

/**
 * Where "attn.q.weight[0,1]" lies in its array; null where there is no such number.
 * @param {Payload} payload @param {string} key @returns {{name: string, index: number}|null}
 */
export function numberAt(payload, key) {
  const found = /^(.+)\[([\d,]*)\]$/.exec(key);
  const parameter = found && payload.model.parameters.find((one) => one.name === found[1]);
  if (!parameter) return null;
  const place = found[2] === "" ? [] : found[2].split(",").map(Number);
  const inside =
    place.length === parameter.shape.length && place.every((at, axis) => at < parameter.shape[axis]);
  if (!inside) return null;
  return {
    name: parameter.name,
    index: place.reduce((sum, at, axis) => sum * parameter.shape[axis] + at, 0),
  };
}

const WIDEST_HEAD = 1024; // a pair beyond a head's size is passed over where it is drawn

/** @param {any} value @param {number} count */
const isIndex = (value, count) => Number.isInteger(value) && value >= 0 && value < count;

/**
 * What each part of the state may be; a link's texts are read as JSON first, but for those that are texts.
 */
const STATE_RULES = {
  /** @param {any} value @param {Payload} payload */
  step: (value, payload) => value === null || (payload.training?.steps.includes(value) ?? false),
  /** @param {any} value @param {Payload} payload */
  seed: (value, payload) => value === null || isOpenSeed(payload, value),
  /** @param {any} value @param {Payload} payload */
  place: (value, payload) => value === null || isIndex(value, payload.model.places),
  /** @param {any} value @param {Payload} payload */
  layer: (value, payload) => isIndex(value, payload.model.layers.length),
  /** @param {any} value @param {Payload} payload */
  head: (value, payload) => isIndex(value, Math.max(1, ...payload.model.layers.map((layer) => layer.heads))),
  /** @param {any} value @param {Payload} payload */
  dims: (value, payload) => value === null || isPair(value, payload.model.width),
  /** @param {any} value */
  headDims: (value) => value === null || isPair(value, WIDEST_HEAD),
  /** @param {any} value @param {Payload} payload */
  key: (value, payload) => value === null || isIndex(value, payload.model.places),
  /** @param {any} value */
  everyRow: (value) => typeof value === "boolean",
  /** @param {any} value @param {Payload} payload */
  changes: (value, payload) => isChanges(value, payload),
  /** @param {any} value @param {Payload} payload */
  chapter: (value, payload) => value === null || isIndex(value, payload.story.length),
};

/** Whether a seed's weights are in the page. @param {Payload} payload @param {number} seed */
function isOpenSeed(payload, seed) {
  const seeds = payload.population;
  return (
    seeds !== null &&
    (seed === seeds.best_seed || (seeds.params !== null && seeds.rows.some((row) => row.seed === seed)))
  );
}

/** @param {any} value @param {number} width */
function isPair(value, width) {
  const all = Array.isArray(value) && value.length === 2 && value.every((dim) => isIndex(dim, width));
  return all && (value[0] !== value[1] || width === 1);
}

/** Whether a parameter may have this value. @param {any} value */
export function isSettable(value) {
  return Number.isFinite(value) && Math.abs(value) <= LARGEST_NUMBER;
}

/** @param {any} value @param {Payload} payload */
function isChanges(value, payload) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([key, number]) => isSettable(number) && numberAt(payload, key) !== null,
  );
}

/** @type {Object<string, (value: any, payload: Payload) => any>} texts: the value to take, or undefined */
const STATE_TEXTS = {
  input: (text, payload) => {
    const read = readInput(payload, text);
    return "error" in read ? undefined : read.input;
  },
  chosen: (text, payload) =>
    payload.model.parameters.some((one) => one.name === text) || numberAt(payload, text) ? text : undefined,
  panel: (text) => (/^[a-z-]{1,40}$/.test(text) ? text : undefined),
  theme: (text) => (["light", "dark"].includes(text) ? text : undefined),
};

/**
 * The part of a wish that is valid here.
 * @param {Payload} payload @param {Object<string, any>} wish @returns {Partial<import("./types.js").State>}
 */
export function acceptedState(payload, wish) {
  /** @type {Object<string, any>} */
  const state = {};
  for (const [key, rule] of Object.entries(STATE_RULES)) {
    if (!Object.hasOwn(wish, key)) continue;
    const value = typeof wish[key] === "string" ? parsed(wish[key]) : wish[key];
    if (value !== undefined && rule(value, payload)) state[key] = value;
  }
  for (const [key, taken] of Object.entries(STATE_TEXTS)) {
    if (typeof wish[key] !== "string") continue;
    const value = wish[key] === "null" && key !== "input" ? null : taken(wish[key], payload);
    if (value !== undefined) state[key] = value;
  }
  if (payload.population && state.seed === payload.population.best_seed) state.seed = null;
  if (state.seed != null) state.step = null; // checkpoints are the chosen seed's alone
  return state;
}
