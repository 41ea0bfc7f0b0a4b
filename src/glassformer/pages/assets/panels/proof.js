// The proof: verdict, classes, margins, and the worst inputs, which a click loads.

import { svgRoot } from "../chart.js";
import { h } from "../dom.js";
import { full, grouped, short } from "../numbers.js";
import { powers } from "../prose.js";
import { badgeTitle, isTied, isTouched } from "./badge.js";
import { classesBar, classesHeight, digitMargins, marginsChart } from "./margins.js";

/** @typedef {import("../types.js").ProofView} View */
/** @typedef {import("../types.js").Example} Example */

const PROOF_PLOT = 220;
const PROOF_GAP = 18; // between two pictures
const PROOF_PLOT_ALONE = 280;
const PROOF_PLOT_TALL = 400; // beside a list in one column
const LONG_EXAMPLE = 22; // letters, from which the examples stand in one column
const PROOF_ROW = 800; // pixels from which the worst inputs stand beside the picture

/** @type {import("../types.js").Panel<View>} */
export const proofPanel = {
  id: "proof",
  title: "Proof and margins",
  wide: true,
  about: () =>
    "A margin is the logit of the best right token minus that of the best wrong one: " +
    "if it is positive, the answer is right.",
  missing: (view) => (view.payload.proof ? null : view.payload.missing.proof),
  draw: (view, width) => ({
    node: proofBody(view, width),
    alt: proofWords(view),
    table: proofTable(view),
    note: proofNote(view),
  }),
};

/**
 * The picture, and the worst inputs beside it where there is room.
 * @param {View} view @param {number} width
 */
function proofBody(view, width) {
  const isRow = width >= PROOF_ROW && worstOf(view).length > 0;
  const picture = proofPicture(view, isRow ? Math.round(width * 0.56) : width);
  return h(
    "div",
    { class: isRow ? "proof in-row" : "proof" },
    picture,
    h("div", {}, proofExamples(view), proofCheck(view)),
  );
}

/** @param {View} view @param {number} width */
function proofPicture(view, width) {
  const { proof } = view.payload;
  const { colours } = view;
  const top = proof.classes.total ? classesHeight(width) : 0;
  const height = proof.steps.length ? PROOF_PLOT : hasLong(view) ? PROOF_PLOT_TALL : PROOF_PLOT_ALONE;
  /** @type {import("../chart.js").Plot[]} */
  const charts = [marginsChart(view, width, height)];
  if (proof.steps.length) charts.push(digitMargins(view, width, height));
  charts.forEach((chart, i) => chart.root.setAttribute("y", String(top + i * (height + PROOF_GAP))));
  const bar = top ? classesBar(proof, width, colours) : null;
  return svgRoot(
    width,
    top + charts.length * (height + PROOF_GAP) - PROOF_GAP,
    colours,
    bar,
    charts.map((chart) => chart.root),
  );
}

/** The worst inputs first, without those that say the same twice. @param {View} view */
function worstOf(view) {
  const { proof } = view.payload;
  const all = [proof.counterexample, proof.hardest, ...proof.worst].filter((one) => one !== null);
  return all.filter((one, i) => all.findIndex((other) => other.input === one.input) === i);
}

/** True where an example takes a line of its own. @param {View} view */
function hasLong(view) {
  const length = (/** @type {Example} */ one) =>
    view.family.exampleWords(one).length + String(one.got).length + (one.right ? 0 : 12);
  return worstOf(view).some((one) => length(one) > LONG_EXAMPLE);
}

/** @param {View} view */
function proofExamples(view) {
  const examples = worstOf(view);
  if (!examples.length) return null;
  const rows = examples.map((example) => h("li", {}, exampleButton(view, example)));
  return h(
    "div",
    { class: "worst" },
    h("h3", {}, "The worst inputs found"),
    h("ol", { class: `worst-list${hasLong(view) ? " long" : ""}` }, rows),
  );
}

/** @param {View} view @param {Example} example */
function exampleButton(view, example) {
  const isShown = example.input === view.state.input;
  const wrong = isTied(example) ? `${example.got}, tied` : `${example.got}, not ${example.expected}`;
  const said = example.right ? example.got : wrong;
  return h(
    "button",
    {
      type: "button",
      class: "worst-input",
      title: example.about,
      "aria-pressed": String(isShown),
      onclick: () => view.change({ input: example.input, place: null }),
    },
    h("span", { class: "worst-text" }, view.family.exampleWords(example), " → ", said),
    h(
      "span",
      { class: example.right ? "good" : "bad" },
      example.margin === null ? "" : short(example.margin),
    ),
  );
}

/**
 * Where it comes from, and how to check it where it has a certificate.
 * @param {View} view
 */
function proofCheck(view) {
  const { proof, target } = view.payload;
  if (proof.verdict === "not_applicable") return null;
  return h(
    "p",
    { class: "muted small" },
    `From ${proof.source}. `,
    view.family.hasCertificate(proof) && checkWords(proof, target),
  );
}

/** @param {import("../types.js").ProofData} proof @param {string} target */
function checkWords(proof, target) {
  const other = ", which shares no code with the prover.";
  if (proof.source.includes("certificate"))
    return ["Check it, in the run folder: ", h("code", {}, "glassformer check certificate.json"), other];
  const make = h("code", {}, `glassformer prove ${target}`);
  return ["Make a certificate: ", make, ". Check it: ", h("code", {}, "glassformer check FILE"), other];
}

/** @param {View} view */
function proofNote(view) {
  const other = isTouched(view.state)
    ? " The proof and the worst inputs are about the run’s model; " +
      "the test margins are those of the parameters shown."
    : "";
  return `${powers(view.payload.proof.sentence)}${other}`;
}

/** @param {View} view */
function proofWords(view) {
  const { proof } = view.payload;
  const { error } = view;
  const { total, proved, refuted, undecided } = proof.classes;
  const classes = total
    ? ` Of ${grouped(total)} classes ${grouped(proved)} are proved, ${grouped(refuted)} refuted, ` +
      `${grouped(undecided)} undecided.`
    : "";
  const margin =
    proof.smallest_margin === null ? "" : ` The smallest margin is ${short(proof.smallest_margin)}.`;
  const whose = isTouched(view.state) ? "Of the run’s model: " : "";
  return (
    `${whose}${badgeTitle(view, proof)}.${classes}${margin} On the test set, ` +
    `with the parameters shown, ${grouped(error.wrong)} of ${grouped(error.total)} are wrong.`
  );
}

/** @param {View} view */
function proofTable(view) {
  const { proof } = view.payload;
  /** @type {Array<Array<string|number|null>>} */
  const rows = Object.entries(proof.classes).map(([kind, count]) => ["classes", kind, count, null, null]);
  rows.push(
    ["smallest margin", "", proof.smallest_margin, null, null],
    ["rounding bound", "", proof.rounding_bound, null, null],
  );
  for (const one of proof.steps)
    rows.push(["digit margin", `step ${one.step}, ${one.input}`, one.margin, null, null]);
  for (const one of worstOf(view)) rows.push(["worst input", one.input, one.margin, one.expected, one.got]);
  Array.from(view.error.margins).forEach((margin, i) =>
    rows.push(["test margin", full(i), /** @type {number} */ (margin), null, null]),
  );
  return { columns: ["part", "name", "value", "expected", "got"], rows };
}
