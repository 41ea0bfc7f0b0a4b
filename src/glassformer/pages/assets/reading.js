// What a link asks for: read into a state, or left out where it is not valid.

import { parsed } from "./store.js";

export const LARGEST_NUMBER = 1e30; // that a parameter may be set to: products of several stay finite

/** @typedef {import("./types.js").Payload} Payload */
/**
 * Where "attn.q.weight[0,1]" lies in its array; null where there is no such parameter.
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

/**
 * Texts: the value to take, or undefined.
 * @type {Object<string, (value: any, payload: Payload, family: import("./types.js").Family) => any>}
 */
const STATE_TEXTS = {
  input: (text, payload, family) => {
    const read = family.read(payload, text);
    return "error" in read ? undefined : read.input;
  },
  chosen: (text, payload) =>
    payload.model.parameters.some((one) => one.name === text) || numberAt(payload, text) ? text : undefined,
  panel: (text) => (/^[a-z-]{1,40}$/.test(text) ? text : undefined),
  theme: (text) => (["light", "dark"].includes(text) ? text : undefined),
};

/**
 * The part of a wish that is valid here.
 * @param {Payload} payload @param {import("./types.js").Family} family @param {Object<string, any>} wish
 * @returns {Partial<import("./types.js").State>}
 */
export function acceptedState(payload, family, wish) {
  /** @type {Object<string, any>} */
  const state = {};
  for (const [key, rule] of Object.entries(STATE_RULES)) {
    if (!Object.hasOwn(wish, key)) continue;
    const value = typeof wish[key] === "string" ? parsed(wish[key]) : wish[key];
    if (value !== undefined && rule(value, payload)) state[key] = value;
  }
  for (const [key, taken] of Object.entries(STATE_TEXTS)) {
    if (typeof wish[key] !== "string") continue;
    const value = wish[key] === "null" && key !== "input" ? null : taken(wish[key], payload, family);
    if (value !== undefined) state[key] = value;
  }
  if (payload.population && state.seed === payload.population.best_seed) state.seed = null;
  if (state.seed != null) state.step = null; // only the best seed has checkpoints
  return state;
}
