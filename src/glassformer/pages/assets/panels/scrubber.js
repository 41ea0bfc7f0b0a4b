// The scrubber: every checkpoint of the training, by drag, keys, play or a click in the curve. Panels follow.

import { h, refill } from "../dom.js";
import { grouped, percent, short } from "../numbers.js";
import { scrubberCurve } from "./curve.js";
import { follow } from "./follow.js";
import { prose } from "../prose.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Store} Store */

const PLAY_SECONDS = 20; // for the whole training at 1x
const PLAY_SPEEDS = [1, 2, 5];

/** @param {HTMLElement} container @param {Store} store @param {() => View} viewOf */
export function mountScrubber(container, store, viewOf) {
  const { payload } = viewOf();
  if (!payload.training)
    return void refill(container, h("p", { class: "muted small" }, prose(payload.missing.training ?? "")));
  const steps = payload.training.steps;
  const range = scrubberRange(store, steps);
  const speed = speedChooser();
  const player = createPlayer(store, steps, () => Number(speed.value));
  const words = h("output", { class: "scrub-words" });
  const curve = scrubberCurve(payload.training, (step) =>
    store.set({ step: step === null ? null : nearestStep(steps, step), seed: null }),
  );
  const note = h("p", { class: "small", role: "status" });
  const thinned = payload.training.note && h("p", { class: "muted small" }, payload.training.note);
  const facts = h("div", { class: "scrub-facts" }, words, note, thinned || null);
  refill(container, player.button, range, speed, curve.root, facts);
  follow(store, () => {
    const view = viewOf();
    const isOther = view.state.seed !== null;
    for (const control of [range, player.button, speed]) control.disabled = isOther;
    if (isOther) player.stop();
    range.value = String(stopOf(steps, view.state.step));
    range.setAttribute("aria-valuetext", stepWords(steps, view.state.step));
    refill(words, isOther ? "" : scrubFacts(view, steps));
    refill(note, isOther && otherSeed(view));
    curve.show(isOther ? undefined : view.state.step);
  });
}

/**
 * The final model is the stop after the last checkpoint.
 * @param {number[]} steps @param {number|null} step
 */
function stopOf(steps, step) {
  return step === null ? steps.length : Math.max(0, steps.indexOf(step));
}

/** @param {number[]} steps @param {number} index */
function stepOfStop(steps, index) {
  return index >= steps.length ? null : steps[index];
}

/** The checkpoint closest to a point of the curve. */
function nearestStep(/** @type {number[]} */ steps, /** @type {number} */ step) {
  return steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best));
}

/** @param {number[]} steps @param {number|null} step */
function stepWords(steps, step) {
  return `${stepShort(step)}${stepOf(steps, step)}`;
}

/** What a phone has room for. @param {number|null} step */
function stepShort(step) {
  return step === null ? "final model" : `step ${grouped(step)}`;
}

/** @param {number[]} steps @param {number|null} step */
function stepOf(steps, step) {
  const last = grouped(steps[steps.length - 1]);
  return step === null ? `, after ${last} steps` : ` of ${last}`;
}

/** @param {View} view @param {number[]} steps */
function scrubFacts(view, steps) {
  const { error, state, payload } = view;
  const row = payload.training?.rows.find((one) => one.step === state.step);
  const isStored = row && Object.keys(state.changes).length === 0; // its curve is not of changed parameters
  return [
    h("strong", {}, stepShort(state.step), h("span", { class: "of-steps" }, stepOf(steps, state.step))),
    isStored && h("span", { class: "scrub-loss" }, `loss ${short(row.loss)}`),
    isStored && h("span", { class: "scrub-error" }, `error ${percent(1 - row.argmax_accuracy)}`),
    h(
      "span",
      { id: "live-error", title: payload.test.about },
      `${grouped(error.wrong)} of ${grouped(error.total)} test inputs wrong`,
    ),
  ];
}

/** @param {View} view */
function otherSeed(view) {
  const back = h(
    "button",
    { type: "button", class: "link", onclick: () => view.change({ seed: null }) },
    "Back to the best seed",
  );
  return [
    `The final model of seed ${view.state.seed} is shown: only the best seed, ` +
      `${view.payload.training?.best_seed}, has checkpoints. `,
    back,
  ];
}

/** @param {Store} store @param {number[]} steps @returns {HTMLInputElement} */
function scrubberRange(store, steps) {
  const range = h("input", {
    type: "range",
    class: "scrub-range",
    id: "scrub",
    min: 0,
    max: steps.length,
    step: 1,
    "aria-label": "Checkpoint",
    oninput: () => store.set({ step: stepOfStop(steps, Number(field.value)) }),
  });
  const field = /** @type {HTMLInputElement} */ (range);
  return field;
}

/** @returns {HTMLSelectElement} */
function speedChooser() {
  const choices = PLAY_SPEEDS.map((speed) => h("option", { value: speed }, `${speed}×`));
  const chooser = h("select", { class: "scrub-speed", "aria-label": "Playback speed" }, choices);
  return /** @type {HTMLSelectElement} */ (chooser);
}

/**
 * Plays from where it stands to the end, and from the start where it stood at the end.
 * @param {Store} store @param {number[]} steps @param {() => number} speedNow
 */
function createPlayer(store, steps, speedNow) {
  const button = h("button", { type: "button", class: "play", id: "play", onclick: toggle });
  let frame = 0;
  let at = 0; // index, with its fraction
  let before = 0;
  label();

  function label() {
    refill(button, h("span", { "aria-hidden": "true" }, frame ? "❚❚" : "▶"));
    button.setAttribute("aria-label", frame ? "Pause" : "Play the training");
  }
  function toggle() {
    if (frame) return stop();
    const index = stopOf(steps, store.get().step);
    at = index >= steps.length ? 0 : index;
    before = performance.now();
    frame = requestAnimationFrame(tick);
    label();
  }
  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
    label();
  }
  /** @param {number} now */
  function tick(now) {
    const step = store.get().step;
    const isMoved = step !== null && step !== stepOfStop(steps, Math.floor(at)); // by hand, meanwhile
    if (isMoved) at = stopOf(steps, step);
    at += ((now - before) / 1000) * (steps.length / PLAY_SECONDS) * speedNow();
    before = now;
    const next = stepOfStop(steps, Math.floor(at));
    if (next !== step) store.set({ step: next });
    if (next === null) return stop();
    frame = requestAnimationFrame(tick);
  }
  return { button, stop };
}
