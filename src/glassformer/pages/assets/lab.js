// The laboratory: weights of any checkpoint or seed, with changed parameters, and the views of them.

import { familyOf } from "./families/families.js";
import { demandsOf } from "./judge.js";
import { acceptedState, numberAt } from "./reading.js";
import { testSetOf } from "./testset.js";
import { rowOf, unpack } from "./unpack.js";
import { readingOf } from "./pass.js";
import { View, tokensOf } from "./view.js";

/** @typedef {import("./types.js").Payload} Payload */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {Object<string, Tensor>} Params */

/** @param {Payload} payload */
export function createLab(payload) {
  const [paramsKept, readingsKept, passesKept, errorsKept, gridsKept] = [24, 24, 2, 500, 48].map(recaller);
  const family = familyOf(payload);
  const weights = weightsOf(payload);
  const demands = once(() => demandsOf(payload));
  const testSet = once(() => testSetOf(payload, family));
  const lab = {
    payload,
    family,
    demands,
    testSet,
    /** @param {string} text */
    read: (text) => family.read(payload, text),
    /** @param {Object<string, any>} wish */
    accept: (wish) => acceptedState(payload, family, wish),
    firstState: () => firstStateOf(payload),
    /** @param {State} state @returns {Params} */
    paramsOf: (state) =>
      paramsKept(numbersKey(state), () => changedParams(payload, weights(state), state.changes)),
    /** @param {State} state */
    reading: (state) =>
      readingsKept(numbersKey(state) + state.input, () =>
        readingOf(payload, family, lab.paramsOf(state), tokensOf(payload, family, state.input)),
      ),
    /** @param {State} state */
    testPass: (state) => passesKept(numbersKey(state), () => testSet().pass(lab.paramsOf(state))),
    /** @param {State} state */
    error: (state) =>
      errorsKept(numbersKey(state), () => testSet().error(lab.paramsOf(state), lab.testPass(state))),
    /** @param {State} state @param {string} key @param {() => any} make */
    grid: (state, key, make) => gridsKept(numbersKey(state) + key, make),
    /** @param {State} state @param {import("./types.js").Store} store @returns {View} */
    view: (state, store) => new View(lab, state, store),
  };
  return lab;
}

/** What the parameters of a state depend on. @param {State} state */
function numbersKey(state) {
  return JSON.stringify([state.step, state.seed, state.changes]);
}

/** @param {Payload} payload @returns {State} */
function firstStateOf(payload) {
  const input = payload.start.input;
  const places = {
    step: null,
    seed: null,
    place: null,
    layer: 0,
    head: 0,
    dims: null,
    headDims: null,
    key: null,
    everyRow: false,
  };
  return { input, ...places, chosen: null, changes: {}, panel: null, chapter: null, theme: null };
}

/**
 * The stored arrays of a state: another seed's, a checkpoint's, or the model's own.
 * @param {Payload} payload @returns {(state: State) => Params}
 */
function weightsOf(payload) {
  const { training, population } = payload;
  const own = once(() => unpacked(payload.weights));
  const checkpoints = once(() => unpacked(training?.params ?? {}));
  const seeds = once(() => unpacked(population?.params ?? {}));
  return (state) => {
    const isOther = state.seed !== null && population?.params && state.seed !== population.best_seed;
    const seed = isOther ? population.rows.findIndex((row) => row.seed === state.seed) : -1;
    if (seed >= 0) return rowsOf(seeds(), seed);
    const step = state.step === null ? -1 : (training?.steps.indexOf(state.step) ?? -1);
    return step >= 0 ? rowsOf(checkpoints(), step) : own();
  };
}

/** @param {Object<string, import("./types.js").Packed>} packed @returns {Params} */
function unpacked(packed) {
  return Object.fromEntries(Object.entries(packed).map(([name, array]) => [name, unpack(array)]));
}

/** @param {Params} arrays @param {number} index @returns {Params} */
function rowsOf(arrays, index) {
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, rowOf(array, index)]));
}

/**
 * The arrays with some parameters replaced; changed arrays are copies.
 * @param {Payload} payload @param {Params} params @param {Object<string, number>} changes
 */
function changedParams(payload, params, changes) {
  const changed = { ...params };
  for (const [key, value] of Object.entries(changes)) {
    const where = numberAt(payload, key);
    if (!where) continue;
    const { shape, data } = changed[where.name];
    const copy = Float64Array.from(data);
    copy[where.index] = value;
    changed[where.name] = { shape, data: copy };
  }
  return changed;
}

/** Remembers the last results by their keys. @param {number} most */
function recaller(most) {
  /** @type {Map<string, any>} */
  const kept = new Map();
  return /** @type {(key: string, make: () => any) => any} */ (key, make) => {
    const value = kept.has(key) ? kept.get(key) : make();
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > most) kept.delete(/** @type {string} */ (kept.keys().next().value));
    return value;
  };
}

/** @template T @param {() => T} make @returns {() => T} */
function once(make) {
  /** @type {{value: T}|null} */
  let kept = null;
  return () => (kept ??= { value: make() }).value;
}
