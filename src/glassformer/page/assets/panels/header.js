// The head of the page: what the model is, how large, how good, and what is proved about it.

import { h, refill } from "../dom.js";
import { grouped, percent, short } from "../numbers.js";
import { themeSwitch } from "../theme_switch.js";
import { tip } from "../tip.js";
import { proofBadge } from "./badge.js";
import { follow } from "./follow.js";
import { prose } from "../prose.js";

/** Each convention of counting: its field, its words, and what it counts. */
const COUNT_CHIPS = [
  [
    "unique",
    "parameters",
    "Numbers that the file holds, each tied number once: what boards of small models compare.",
  ],
  ["stored", "stored", "Numbers of a plain checkpoint: every array that the pass reads, ties written out."],
  ["learned", "learned", "Numbers that training may move."],
  ["nonzero", "non-zero", "Parameters that are not zero."],
  ["constants", "constants", "Numbers in the formulas of the parts, stored nowhere."],
  [
    "rank",
    "rank",
    "Independent directions of the learned numbers that change a logit: the rank of the Jacobian.",
  ],
  ["dead", "dead", "Learned numbers that moved no logit over the inputs tried."],
];

/** @param {HTMLElement} container @param {any} store @param {() => any} viewOf */
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

/** @param {any} store @param {any} lab */
function headTools(store, lab) {
  const buttons = [copyButton(store), resetButton(store, lab), keysButton()];
  return h("div", { class: "tools" }, themeSwitch(store), buttons);
}

/** @param {any} payload @param {import("../types.js").Family} family */
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

/** @param {any} payload */
function headArithmetic(payload) {
  const words = h("p", {}, payload.arithmetic);
  return h("details", { class: "head-how" }, h("summary", {}, "How the numbers here are computed"), words);
}

/** Only counts that say something of their own: those that are the parameters again are left out. */
function countChips(/** @type {any} */ payload) {
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
 * Numbers without effect: an array that is named has them all.
 * @param {import("../types.js").ModelData} model
 */
function deadCount({ counts, parameters }) {
  const size = (/** @type {string} */ name) => parameters.find((one) => one.name === name)?.size ?? 1;
  return counts.dead?.reduce((/** @type {number} */ sum, /** @type {string} */ name) => sum + size(name), 0);
}

/** @param {any} payload */
function measureChips(payload) {
  return payload.measures.map((/** @type {any} */ measure) => {
    const { label, low, high, meaning } = measure;
    const isShare = label !== "loss";
    const write = isShare ? percent : short;
    const between = isShare && low !== null && high !== null && `: ${write(low)} to ${write(high)}`;
    const least = payload.training?.floor ?? null;
    const floor = !isShare && least !== null && `(floor ${short(least)})`;
    return headChip([label, floor].filter(Boolean).join(" "), write(measure.value), [meaning, between, "."]);
  });
}

/** @param {string} label @param {string} value @param {any[]} about */
function headChip(label, value, about) {
  const item = h("li", { class: "chip", tabindex: 0 }, h("strong", {}, value), label);
  tip(item, () => about.filter(Boolean));
  return item;
}

/** What differs from the run's own model, with the way back. @param {any} view */
function headStatus(view) {
  const { step, seed, changes } = view.state;
  const number = Object.keys(changes).length;
  return [
    number > 0 &&
      statusPart(`changed: ${number} ${number === 1 ? "number" : "numbers"}`, "reset", () =>
        view.change({ changes: {} }),
      ),
    seed !== null &&
      statusPart(`seed ${seed} is open`, "back to the chosen seed", () => view.change({ seed: null })),
    step !== null &&
      statusPart(`step ${grouped(step)} is shown`, "to the chosen model", () => view.change({ step: null })),
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

/** @param {any} store */
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

/** All as it was at first; the theme stays. @param {any} store @param {any} lab */
function resetButton(store, lab) {
  const reset = () => store.set({ ...lab.firstState(), theme: store.get().theme });
  return h("button", { type: "button", class: "quiet", id: "reset-all", onclick: reset }, "Reset all");
}

function keysButton() {
  const open = () => document.dispatchEvent(new CustomEvent("glassformer-keys"));
  return h(
    "button",
    { type: "button", class: "quiet", "aria-label": "Keys", title: "Keys (?)", onclick: open },
    "?",
  );
}
