// What a state shows: every intermediate of one input, computed when first needed and then cached.

import { evaluate } from "./evaluate.js";
import { columnOf, ruleAnswer } from "./judge.js";
import { short } from "./numbers.js";
import { coloursInForce } from "./theme.js";

/** @typedef {import("./types.js").Store} Store */
/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {import("./types.js").Payload} Payload */
/** @typedef {import("./types.js").State} State */
/** @typedef {Object<string, Tensor>} Params */

/** Shares of `tok pos` over the tokens. @param {Tensor} logits @returns {Tensor} */
function probabilitiesOf(logits) {
  const [vocab, places] = logits.shape;
  const data = new Float64Array(vocab * places);
  for (let place = 0; place < places; place++) {
    const column = columnOf(logits, place);
    const top = Math.max(...column);
    const powers = column.map((logit) => Math.exp(logit - top));
    const total = powers.reduce((sum, power) => sum + power, 0);
    powers.forEach((power, token) => (data[token * places + place] = power / total));
  }
  return { shape: [vocab, places], data };
}

/** @typedef {ReturnType<typeof import("./pass.js").readingOf>} Reading */
/** @typedef {{payload: Payload, family: import("./types.js").Family, paramsOf: (state: State) => Params,
 *   view: (state: State, store: Store) => View, read: (text: string) => import("./types.js").InputRead,
 *   firstState: () => State,
 *   reading: (state: State) => Reading, error: (state: State) => import("./testset.js").TestError,
 *   testSet: () => import("./testset.js").TestSet, testPass: (state: State) => import("./testset.js").Pass,
 *   grid: (state: State, key: string, make: () => any) => any,
 *   demands: () => ReturnType<typeof import("./judge.js").demandsOf>}} Lab */

/** What every part of the page draws from. */
export class View {
  /** @type {Object<string, any>} */
  #kept = {};
  isMoving = false; // one change follows another: until they rest, a map may be coarser

  /** @param {Lab} lab @param {State} state @param {Store} store */
  constructor(lab, state, store) {
    this.lab = lab;
    this.payload = lab.payload;
    this.family = lab.family;
    this.state = state;
    this.store = store;
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  #once(key, make) {
    return (this.#kept[key] ??= make());
  }

  /** @param {Partial<State>} patch */
  change(patch) {
    this.store.set(patch);
  }

  /** Of the state as it is now: a key or a click may come before the last one is drawn. @returns {View} */
  get now() {
    return this.store.get() === this.state ? this : this.lab.view(this.store.get(), this.store);
  }

  get colours() {
    return this.#once("colours", () => coloursInForce(this.payload.colours, this.state));
  }
  get dark() {
    return this.colours === this.payload.colours.dark;
  }
  get params() {
    return this.lab.paramsOf(this.state);
  }
  get reading() {
    return this.#once("reading", () => this.lab.reading(this.state));
  }
  get tokens() {
    return this.reading.tokens;
  }
  get logits() {
    return this.at("logits");
  }
  get probabilities() {
    return this.#once("probabilities", () => probabilitiesOf(this.logits));
  }
  get error() {
    return this.lab.error(this.state);
  }
  get layer() {
    return this.payload.model.layers[this.state.layer];
  }

  /** The cursor's position: the selected one, or the family's first. */
  get place() {
    if (this.state.place !== null) return Math.min(this.state.place, this.tokens.length - 1);
    return this.family.cursor(this);
  }

  /** The label at each position. */
  get labels() {
    return this.family.labels(this);
  }

  /** A named intermediate, `dim pos` or `query key`. @param {string} name */
  at(name) {
    return this.reading.at(name);
  }

  /**
   * A margin in words; the proof's margins are in the model's own arithmetic, which rounds differently.
   * @param {number} margin
   */
  marginWords(margin) {
    return `margin ${short(margin)}${this.payload.model.precision === "float64" ? "" : " in float64"}`;
  }

  /** The name of an intermediate in the selected layer: "attn.scores.0". @param {string} name */
  named(name) {
    return `${this.layer.prefix}${name}`;
  }

  /** Of rules and questions: the verdict at every position. */
  get answers() {
    return this.#once("answers", () =>
      this.tokens.map((_, place) =>
        ruleAnswer(columnOf(this.logits, place), this.lab.demands()(this.tokens.slice(0, place + 1))),
      ),
    );
  }

  /** The verdict at the last position; for adders the sum, digit by digit. */
  get answer() {
    return this.#once("answer", () => this.family.answer(this));
  }

  /**
   * The same view with one parameter changed, for derivatives: nudged("attn.q.weight[0,1]", 0.5).
   * @param {string} key @param {number} value @returns {View}
   */
  nudged(key, value) {
    return this.lab.view({ ...this.state, changes: { ...this.state.changes, [key]: value } }, this.store);
  }

  /**
   * States `dim batch` through the last part of the model: (name) => Tensor `dim 1 batch`.
   * @param {"settle"|"readout"} kind @param {Tensor} states
   */
  through(kind, states) {
    const [width, batch] = states.shape;
    const state = { shape: [width, 1, batch], data: states.data };
    return evaluate(this.payload.model.programs[kind], { ...this.params, state }, batch);
  }

  /**
   * The token that wins at every point of a grid x grid picture of the plane of two dimensions, the others as
   * in `base`. limits: [[left, right], [low, high]]. Point (column, row) is the middle of its cell, row 0 is
   * the lowest, and stands at [row * grid + column].
   * @param {"settle"|"readout"} kind @param {[number, number]} dims @param {number[][]} limits
   * @param {number} grid @param {number[]} base
   * @returns {{winner: Uint8Array|Uint16Array, grid: number, logits: Tensor}}
   */
  landscape(kind, dims, limits, grid, base) {
    const key = JSON.stringify([kind, dims, limits, grid, base]);
    return this.lab.grid(this.state, key, () => {
      const logits = this.through(kind, gridStates(dims, limits, grid, base))("logits");
      return {
        winner: winnersOf(logits),
        grid,
        logits: { shape: [logits.shape[0], grid * grid], data: logits.data },
      };
    });
  }
}

/**
 * @param {[number, number]} dims @param {number[][]} limits @param {number} grid @param {number[]} base
 * @returns {Tensor}
 */
function gridStates(dims, limits, grid, base) {
  const count = grid * grid;
  const data = new Float64Array(base.length * count);
  base.forEach((value, dim) => data.fill(value, dim * count, (dim + 1) * count));
  const middle = /** @type {(range: number[], n: number) => number} */ ([low, high], n) =>
    low + ((n + 0.5) / grid) * (high - low);
  for (let row = 0, at = 0; row < grid; row++) {
    for (let column = 0; column < grid; column++, at++) {
      data[dims[0] * count + at] = middle(limits[0], column);
      if (dims[1] !== dims[0]) data[dims[1] * count + at] = middle(limits[1], row);
    }
  }
  return { shape: [base.length, count], data };
}

/** The first of the largest at every point. @param {Tensor} logits */
export function winnersOf(logits) {
  const vocab = logits.shape[0];
  const count = logits.data.length / vocab;
  const winner = vocab > 256 ? new Uint16Array(count) : new Uint8Array(count);
  const best = logits.data.slice(0, count);
  for (let token = 1; token < vocab; token++) {
    for (let n = 0, at = token * count; n < count; n++, at++) {
      if (logits.data[at] > best[n]) {
        best[n] = logits.data[at];
        winner[n] = token;
      }
    }
  }
  return winner;
}

/**
 * The tokens of a state's input; of the page's first one where it cannot be read.
 * @param {Payload} payload @param {import("./types.js").Family} family @param {string} input
 */
export function tokensOf(payload, family, input) {
  const read = family.read(payload, input);
  const sure = "error" in read ? family.read(payload, payload.start.input) : read;
  if ("error" in sure) throw new Error(sure.error);
  return sure.tokens;
}
