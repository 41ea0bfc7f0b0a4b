// Small controls: a drop-down and a row of buttons of which one is pressed. Kept from drawing to drawing.

import { h, refill } from "../../../pages/assets/dom.js";
import { textsOf } from "./data.js";

/** @typedef {import("./types.js").SpectraView} View */

/** @type {Map<string, {root: HTMLElement, control: HTMLSelectElement|HTMLInputElement, options: string}>} */
const keptChoices = new Map();

/**
 * @param {string} key @param {string} label @param {Array<[string, string]>} options value and words
 * @param {string} chosen @param {(value: string) => void} choose
 */
export function dropDown(key, label, options, chosen, choose) {
  let kept = keptChoices.get(key);
  if (!kept) {
    const control = h("select", { "data-key": key, "aria-label": label });
    kept = { root: h("label", { class: "choice" }, h("span", {}, label), control), control, options: "" };
    keptChoices.set(key, kept);
  }
  const signature = JSON.stringify(options);
  if (kept.options !== signature)
    refill(
      kept.control,
      options.map(([value, words]) => h("option", { value }, words)),
    );
  kept.options = signature;
  kept.control.value = chosen;
  kept.control.onchange = () => choose(kept.control.value);
  return kept.root;
}

/**
 * The treatments of a table, where it has several.
 * @param {string} key @param {import("./data.js").Frame} frame @param {View} view @returns {Element[]}
 */
export function treatmentChoice(key, frame, view) {
  const there = textsOf(frame, "treatment");
  if (there.length < 2) return [];
  const choose = (/** @type {string} */ treatment) => view.set({ treatment });
  return [dropDown(key, "Treatment", there.map(sameWords), view.state.treatment, choose)];
}

/** An option that is called as it is. @param {string} text @returns {[string, string]} */
export function sameWords(text) {
  return [text, text];
}

/**
 * @param {string} key @param {string} label @param {Array<[string, string]>} options @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function buttonRow(key, label, options, chosen, choose) {
  const buttons = options.map(([value, words]) =>
    h(
      "button",
      {
        type: "button",
        "data-key": `${key}-${value}`,
        "aria-pressed": String(value === chosen),
        onclick: () => choose(value),
      },
      words,
    ),
  );
  return h("div", { class: "group", role: "group", "aria-label": label }, buttons);
}

/** @param {string} key @param {string} label @param {string} text @param {(text: string) => void} type */
export function filterField(key, label, text, type) {
  let kept = keptChoices.get(key);
  if (!kept) {
    const control = h("input", {
      type: "search",
      "data-key": key,
      placeholder: label,
      "aria-label": label,
      autocomplete: "off",
      spellcheck: "false",
    });
    kept = { root: h("label", { class: "choice filter" }, control), control, options: "" };
    keptChoices.set(key, kept);
  }
  if (kept.control.value !== text) kept.control.value = text;
  kept.control.oninput = () => type(kept.control.value);
  return kept.root;
}
