// The header of the page: the task, parameter counts, measures, and the verdict.

import { h, refill } from "../dom.js";
import { grouped, percent, short } from "../numbers.js";
import { themeSwitch } from "../theme_switch.js";
import { tip } from "../tip.js";
import { proofBadge } from "./badge.js";
import { follow } from "./follow.js";
import { prose } from "../prose.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Store} Store */
/** @typedef {import("../types.js").Payload} Payload */
/** @typedef {import("../view.js").Lab} Lab */

/** Each counting convention: its field, its label, and what it counts. */
const COUNT_CHIPS = [
  [
    "unique",
    "parameters",
    "Parameters that the file holds, tied ones counted once: the count that leaderboards use.",
  ],
  ["stored", "stored", "Parameters with ties written out: every array that the forward pass reads."],
  ["learned", "learned", "Parameters that training may change."],
  ["nonzero", "non-zero", "Parameters that are not zero."],
  ["constants", "constants", "Numbers in the formulas of the forward pass, stored in no file."],
  [
    "rank",
    "rank",
    "Rank of the Jacobian of the logits: how many learned parameters the function depends on.",
  ],
  ["dead", "dead", "Learned parameters that changed no logit over the inputs tried."],
];

/** @param {HTMLElement} container @param {Store} store @param {() => View} viewOf */
export function mountHeader(container, store, viewOf) {
  const { payload, lab } = viewOf();
  const badge = h("div", { class: "head-badge" });
  const status = h("p", { class: "changed", role: "status" });
  refill(
    container,
    h("div", { class: "head-first" }, status, headTools(store, lab)),
    h("div", { class: "head-top" }, headTitle(payload, lab.family), badge),
    h(
      "ul",
      { class: "chips", "aria-label": "Size and measures" },
      countChips(payload),
      measureChips(payload),
    ),
    headArithmetic(payload),
  );
  let shown = "";
  follow(store, () => {
    const view = viewOf();
    const { step, seed, changes } = view.state;
    const next = JSON.stringify([step, seed, changes]);
    if (next === shown) return;
    shown = next;
    refill(badge, proofBadge(view));
    refill(status, headStatus(view));
  });
}

/** @param {Store} store @param {Lab} lab */
function headTools(store, lab) {
  const buttons = [copyButton(store), resetButton(store, lab), keysButton()];
  return h("div", { class: "tools" }, themeSwitch(store), buttons);
}

/** @param {Payload} payload @param {import("../types.js").Family} family */
function headTitle(payload, family) {
  const own = payload.about && h("p", { class: "muted" }, prose(payload.about));
  return h(
    "div",
    { class: "head-title" },
    h("h1", {}, payload.name),
    h("p", { class: "sentence" }, prose(family.title(payload))),
    own,
  );
}

/** @param {Payload} payload */
function headArithmetic(payload) {
  const words = h("p", {}, payload.arithmetic);
  return h("details", { class: "head-how" }, h("summary", {}, "How the numbers are computed"), words);
}

/** Only counts that differ from the parameters. */
function countChips(/** @type {Payload} */ payload) {
  const counts = payload.model.counts;
  return COUNT_CHIPS.map(([field, words, about]) => {
    const value = field === "dead" ? deadCount(payload.model) : counts[field];
    if (value === null || value === undefined) return null;
    if (["stored", "learned", "nonzero"].includes(field) && value === counts.unique) return null;
    if ((field === "dead" || field === "constants") && value === 0) return null;
    const more =
      field === "dead" ? counts.dead.join(", ") : field === "constants" ? payload.model.constants : "";
    return headChip(value === 1 ? words.replace(/s$/, "") : words, grouped(value), [
      about,
      more && ` ${more}`,
    ]);
  });
}

/**
 * Dead parameters: an array that is named is dead as a whole.
 * @param {import("../types.js").ModelData} model
 */
function deadCount({ counts, parameters }) {
  const size = (/** @type {string} */ name) => parameters.find((one) => one.name === name)?.size ?? 1;
  return counts.dead?.reduce((/** @type {number} */ sum, /** @type {string} */ name) => sum + size(name), 0);
}

/** @param {Payload} payload */
function measureChips(payload) {
  return payload.measures.map((measure) => {
    const { label, low, high, meaning } = measure;
    const isShare = label !== "loss";
    const write = isShare ? percent : short;
    const between = isShare && low !== null && high !== null && `: ${write(low)} to ${write(high)}`;
    const least = payload.training?.floor ?? null;
    const floor = !isShare && least !== null && `(floor ${short(least)})`;
    return headChip([label, floor].filter(Boolean).join(" "), write(measure.value), [meaning, between, "."]);
  });
}

/** @param {string} label @param {string} value @param {import("../dom.js").Child[]} about */
function headChip(label, value, about) {
  const item = h("li", { class: "chip", tabindex: 0 }, h("strong", {}, value), label);
  tip(item, () => about.filter(Boolean));
  return item;
}

/** What differs from the run's own model, with the way back. @param {View} view */
function headStatus(view) {
  const { step, seed, changes } = view.state;
  const number = Object.keys(changes).length;
  return [
    number > 0 &&
      statusPart(`changed: ${number} ${number === 1 ? "parameter" : "parameters"}`, "reset", () =>
        view.change({ changes: {} }),
      ),
    seed !== null &&
      statusPart(`seed ${seed} is shown`, "back to the best seed", () => view.change({ seed: null })),
    step !== null &&
      statusPart(`step ${grouped(step)} is shown`, "back to the final model", () =>
        view.change({ step: null }),
      ),
  ];
}

/** @param {string} words @param {string} action @param {() => void} act */
function statusPart(words, action, act) {
  return h(
    "span",
    {},
    words,
    " (",
    h("button", { type: "button", class: "link", onclick: act }, action),
    ")",
  );
}

/** @param {Store} store */
function copyButton(store) {
  const button = h("button", { type: "button", class: "quiet", id: "copy-link", onclick: copy }, "Copy link");
  async function copy() {
    const isCopied = await copiedLink(store.link());
    button.textContent = isCopied ? "Copied" : "Copy it from the address bar";
    setTimeout(() => (button.textContent = "Copy link"), 1600);
  }
  return button;
}

/** A page from a file may lack the clipboard: then a field of its own is copied. @param {string} text */
async function copiedLink(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { class: "unseen" }, text);
    document.body.append(field);
    /** @type {HTMLTextAreaElement} */ (field).select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  }
}

/** The first state again; the theme stays. @param {Store} store @param {Lab} lab */
function resetButton(store, lab) {
  const reset = () => store.set({ ...lab.firstState(), theme: store.get().theme });
  return h("button", { type: "button", class: "quiet", id: "reset-all", onclick: reset }, "Reset all");
}

function keysButton() {
  const open = () => document.dispatchEvent(new CustomEvent("glassformer-keys"));
  return h(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": "Keyboard shortcuts",
      title: "Keyboard shortcuts (?)",
      onclick: open,
    },
    "?",
  );
}
