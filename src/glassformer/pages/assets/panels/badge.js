// The badge: what is proved about the run's model.

import { h } from "../dom.js";
import { capital, grouped, raised, short } from "../numbers.js";
import { tip } from "../tip.js";
import { prose } from "../prose.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").ProofData} ProofData */
/** @typedef {import("../types.js").Example} Example */

/** @type {Object<string, string>} */
const BADGE_SIGNS = { proved: "✓", refuted: "✗", undecided: "?", not_applicable: "–" };

/**
 * A button that loads the counterexample or the hardest input, where there is one.
 * @param {View} view @returns {Element}
 */
export function proofBadge(view) {
  const proof = view.payload.proof;
  if (!proof) return emptyBadge(view.payload.missing.proof);
  const example = proof.counterexample ?? proof.hardest;
  const inside = [
    h("span", { class: "badge-sign", "aria-hidden": "true" }, BADGE_SIGNS[proof.verdict]),
    h("span", { class: "badge-words" }, badgeWords(view, proof)),
  ];
  if (!example) return h("div", { class: `badge ${proof.verdict}`, id: "badge" }, inside);
  const load = () => view.change({ input: example.input, place: null });
  const badge = h(
    "button",
    { type: "button", class: `badge ${proof.verdict}`, id: "badge", onclick: load },
    inside,
  );
  const words = view.family.exampleWords(example);
  tip(badge, () => [`${capital(example.about)}. Click to load it: ${words}.`]);
  return badge;
}

/** @param {string} sentence */
function emptyBadge(sentence) {
  return h(
    "div",
    { class: "badge none", id: "badge" },
    h("span", { class: "badge-sign", "aria-hidden": "true" }, "–"),
    h("span", { class: "badge-words" }, h("strong", {}, "No proof"), h("small", {}, prose(sentence))),
  );
}

/** With other parameters a warning replaces the facts: one line for one, so that nothing moves. */
function badgeWords(/** @type {View} */ view, /** @type {ProofData} */ proof) {
  const below = isTouched(view.state)
    ? h("small", { class: "badge-other" }, "about the run’s model, not the one shown")
    : h("small", {}, badgeFacts(proof).join(" · "));
  return [h("strong", {}, badgeTitle(view, proof)), below];
}

/** The page shows other parameters than the run's. @param {import("../types.js").State} state */
export function isTouched(state) {
  return state.step !== null || state.seed !== null || Object.keys(state.changes).length > 0;
}

/** @param {View} view @param {ProofData} proof */
export function badgeTitle(view, proof) {
  if (proof.verdict === "proved") return provedWords(proof.inputs);
  if (proof.verdict === "refuted")
    return proof.counterexample ? `Refuted: ${refutedWords(view, proof.counterexample)}` : "Refuted";
  if (proof.verdict === "undecided") return "Undecided";
  return "No proof";
}

/** On how many inputs; numbers of every length are not counted. @param {string} inputs */
function provedWords(inputs) {
  if (inputs === "all") return "Proved for numbers of every length";
  return `Proved on all ${manyText(inputs)} inputs`;
}

/**
 * 10²⁰ for a power of ten from a million on, 7³⁰ for one of another base from 10¹⁸ on, else with commas.
 * @param {string} count
 */
function manyText(count) {
  const number = BigInt(count);
  const bases = count.length < 19 ? [10] : [10, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16];
  for (const base of count.length < 7 ? [] : bases) {
    let [power, reached] = [0, 1n];
    for (; reached < number; power++) reached *= BigInt(base);
    if (reached === number) return `${base}${raised(power)}`;
  }
  return grouped(count);
}

/** @param {ProofData} proof @returns {string[]} */
function badgeFacts(proof) {
  if (proof.verdict === "not_applicable") return [proof.reason];
  const left = proof.classes.undecided;
  return [
    proof.verdict === "undecided" &&
      (proof.reason || `${grouped(left)} of ${grouped(proof.classes.total)} classes undecided`),
    proof.smallest_margin !== null &&
      proof.verdict !== "refuted" && // that input says more
      `smallest margin ${proof.verdict === "proved" ? "" : "found "}${short(proof.smallest_margin)}`,
    `${proof.arithmetic} arithmetic`,
    proof.seconds !== null && `${short(proof.seconds, 2)} s`,
  ].filter((fact) => typeof fact === "string");
}

/** "57 + 68 gives 126, not 125". @param {View} view @param {Example} example */
function refutedWords(view, example) {
  return view.family.wrongWords(example, isTied(example));
}

/** The first of the largest logits is right, but a wrong token has it too. @param {Example} example */
export function isTied(example) {
  return !example.right && example.expected.split(" or ").includes(example.got);
}
