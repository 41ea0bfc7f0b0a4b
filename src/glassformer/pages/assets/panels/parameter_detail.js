// One parameter of the model: its exact value, its meaning, its effect, and controls to change it.

import { h, refill } from "../dom.js";
import { full, short } from "../numbers.js";
import { quoted } from "../prose.js";
import { LARGEST_NUMBER } from "../reading.js";
import { listedTokens } from "./few_tokens.js";
import {
  changeNumber,
  currentValue,
  onePercent,
  slopesOf,
  spelledNumber,
  spotAt,
  storedValue,
} from "./parameter_values.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./parameter_values.js").ArraySpot} ArraySpot */

const CHIPS = 7; // intermediates that are named; of more, the first and the last
const SLOW = 12; // milliseconds: what takes longer waits until the drag rests

/**
 * `slow`: its sums took long the last time; `isRough`: they still are those of an older state.
 * @typedef {{node: HTMLElement, parts: Object<string, any>, view: View, slow: boolean, isRough: boolean}} Detail
 */

/** @returns {Detail} */
export function parameterDetail() {
  /** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} name */
  const part = (tag, name, attributes = {}) =>
    h(tag, { class: `parameter-${name}`, ...attributes });
  const parts = {
    name: part("h3", "name"),
    tags: part("span", "tags"),
    value: part("output", "value"),
    about: part("p", "about"),
    field: part("input", "field", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": "value",
      "data-key": "parameter-field",
    }),
    slider: part("input", "slider", {
      type: "range",
      step: "any",
      "aria-label": "value, by slider",
      "data-key": "parameter-slider",
    }),
    error: part("p", "error", { role: "alert" }),
    answer: part("p", "answer"),
    test: part("p", "test"),
    undo: h("button", { type: "button", class: "parameter-undo" }, "Reset this"),
    undoAll: h("button", { type: "button", class: "parameter-undo-all" }, "Reset all"),
    acts: part("div", "acts"),
    slopes: part("div", "slopes"),
  };
  parts.error.classList.add("error");
  const head = h("div", { class: "row" }, parts.name, parts.tags);
  const body = h(
    "div",
    { class: "parameter-body" },
    head,
    parts.value,
    h("div", { class: "parameter-change" }, parts.field, parts.slider),
    parts.error,
    h("div", { class: "row" }, parts.undo, parts.undoAll),
  );
  const node = h(
    "aside",
    { class: "parameter-detail", "aria-label": "the selected parameter" },
    body,
    parts.answer,
    parts.test,
    parts.about,
    parts.acts,
    parts.slopes,
  );
  /** @type {Detail} */
  const detail = {
    node,
    parts,
    view: /** @type {any} */ (null), // until it is first updated
    slow: false,
    isRough: false,
  };
  detailListen(detail);
  return detail;
}

/** @param {Detail} detail */
function detailListen(detail) {
  const { parts } = detail;
  const spot = () => spotAt(detail.view, detail.view.now.state.chosen);
  const set = (/** @type {number|null} */ value) => {
    const here = spot();
    if (here && value !== null) changeNumber(detail.view, here, value);
  };
  parts.slider.addEventListener("input", () => set(Number(parts.slider.value)));
  parts.field.addEventListener("input", () => {
    const value = spelledNumber(parts.field.value);
    if (value === null) return;
    showFieldError(detail, "");
    set(value);
  });
  parts.field.addEventListener("change", () => {
    if (spelledNumber(parts.field.value) !== null) return;
    const here = spot();
    const kept = here ? full(currentValue(detail.view.now, here)) : "";
    showFieldError(
      detail,
      `${quoted(parts.field.value)} is not a number up to ${LARGEST_NUMBER}: ` +
        `write one such as -0.25 or 3e-4. The value stays ${kept}.`,
    );
    parts.field.value = kept;
  });
  parts.undo.addEventListener("click", () => {
    const here = spot();
    if (here) changeNumber(detail.view, here, storedValue(detail.view.now, here));
  });
  parts.undoAll.addEventListener("click", () => detail.view.change({ changes: {} }));
}

/** @param {Detail} detail @param {string} words */
function showFieldError({ parts }, words) {
  parts.error.textContent = words;
  parts.field.setAttribute("aria-invalid", words ? "true" : "false");
}

/** @param {Detail} detail @param {View} view */
export function updateDetail(detail, view) {
  const before = detail.view && spotAt(detail.view, detail.view.state.chosen)?.key;
  detail.view = view;
  const spot = spotAt(view, view.state.chosen);
  detail.node.classList.toggle("empty", spot === null);
  if (spot && before !== spot.key) showFieldError(detail, "");
  if (spot) showNumber(detail, spot);
  else refill(detail.parts.name, "Choose a parameter");
  detail.parts.about.textContent = spot
    ? spot.array.about
    : "Click a cell, or drag it sideways: the answer, every panel and the error follow. Keys: " +
      "← → choose, ↑ ↓ change by 1% (Shift: 10%), Delete resets.";
  detail.parts.undoAll.disabled = Object.keys(view.state.changes).length === 0;
  showAnswer(detail, spot);
}

/** @param {Detail} detail @param {ArraySpot} spot */
function showNumber({ parts, view }, spot) {
  const [value, stored] = [currentValue(view, spot), storedValue(view, spot)];
  const { array } = spot;
  const marks = [
    array.learned ? "learned" : "fixed",
    (array.dead || view.payload.model.counts.dead?.includes(spot.key)) && "dead: changed no logit",
    ...array.tied.map((name) => `tied: ${name}`),
  ].filter(Boolean);
  refill(parts.name, h("code", {}, spot.key));
  refill(
    parts.tags,
    marks.map((mark) => h("span", { class: "parameter-tag" }, mark)),
  );
  refill(
    parts.value,
    full(value),
    value !== stored && h("span", { class: "muted" }, ` stored ${full(stored)}`),
  );
  if (document.activeElement !== parts.field) parts.field.value = full(value);
  const reach = Math.max(200 * onePercent(view, spot), Math.abs(value - stored));
  const [low, high] = [stored - reach, stored + reach];
  if (Number(parts.slider.min) !== low) parts.slider.min = String(low);
  if (Number(parts.slider.max) !== high) parts.slider.max = String(high);
  if (Number(parts.slider.value) !== value) parts.slider.value = String(value);
  parts.undo.disabled = value === stored;
  refill(
    parts.acts,
    h("span", { class: "muted" }, array.acts.length ? "acts on" : "acts on nothing"),
    actChips(view, array.acts),
  );
}

/**
 * The intermediates that depend on it; a click leads to the panel that shows one.
 * @param {View} view @param {string[]} acts
 */
function actChips(view, acts) {
  const shown = acts.length <= CHIPS ? acts : [...acts.slice(0, CHIPS - 1), "…", acts[acts.length - 1]];
  return shown.map((name) =>
    name === "…"
      ? h("span", { class: "muted" }, name)
      : h(
          "button",
          {
            type: "button",
            class: "chip parameter-act",
            "data-key": `act ${name}`,
            onclick: () => goToPanel(view, name),
          },
          name,
        ),
  );
}

/** @param {View} view @param {string} name */
function goToPanel(view, name) {
  const layer = Math.max(
    0,
    view.payload.model.layers.findIndex((each) => each.prefix && name.startsWith(each.prefix)),
  );
  const id = panelShowing(view, name);
  const panel = document.getElementById(`panel-${id}`);
  view.change({ panel: id, layer });
  panel?.scrollIntoView({
    behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
    block: "start",
  });
}

/** The panel that shows an intermediate. @param {View} view @param {string} name */
function panelShowing(view, name) {
  const isOfHead = /attn\./.test(name) && !/attn\.(output|input|mixed|v)$/.test(name);
  return isOfHead ? "attention" : view.family.panelOf(name);
}

/**
 * The effect of the change, here and over the test set. Slow results are pale until the drag rests.
 * @param {Detail} detail @param {ArraySpot|null} spot
 */
function showAnswer(detail, spot) {
  const { parts, view } = detail;
  refill(parts.answer, view.family.changeWords(view));
  detail.isRough = view.isMoving && detail.slow;
  for (const part of [parts.test, parts.slopes]) part.classList.toggle("older", detail.isRough);
  if (detail.isRough) return;
  const began = performance.now();
  const { wrong, total } = view.error;
  refill(parts.test, h("strong", {}, `right on ${total - wrong} of ${total}`), " test inputs");
  refill(parts.slopes, spot && slopeTable(view, spot));
  detail.slow = performance.now() - began > SLOW;
}

/** @param {number[]} shown @param {number[]} logits */
function fewerWords(shown, logits) {
  return shown.length < logits.length ? `The largest of ${logits.length}. ` : "";
}

/** @param {View} view @param {ArraySpot} spot */
function slopeTable(view, spot) {
  const { margin, logits } = slopesOf(view, spot);
  const most = Math.max(...logits.map(Math.abs)) || 1;
  const { tokens } = view.payload;
  const bar = (/** @type {number} */ slope) => {
    const share = Math.abs(slope) / most;
    return h("span", {
      class: slope < 0 ? "parameter-bar below" : "parameter-bar",
      style: `width: ${(50 * share).toFixed(1)}%`,
    });
  };
  const shown = listedTokens(logits.map(Math.abs));
  const rows = shown.flatMap((token) => [
    h(
      "span",
      { class: "token small", style: `background: ${tokens[token].colour}; color: ${tokens[token].ink}` },
      tokens[token].label,
    ),
    h("span", { class: "parameter-track" }, bar(logits[token])),
    h("span", { class: "parameter-slope" }, short(logits[token], 3)),
  ]);
  const words = Number.isFinite(margin) ? short(margin) : view.family.noMargin;
  return [
    h(
      "p",
      {},
      "Its derivatives here: margin ",
      h("strong", { class: "parameter-margin-slope" }, words),
      ", logits:",
    ),
    h("div", { class: "parameter-slopes-grid" }, rows),
    h("p", { class: "muted small" }, `${fewerWords(shown, logits)}By central differences at this value.`),
  ];
}
