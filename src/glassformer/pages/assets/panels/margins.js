// Pictures of a proof: its classes as a bar, the margins of the test set, the margin of each digit.

import { plot } from "../chart.js";
import { s } from "../dom.js";
import { histogram } from "../histogram.js";
import { label } from "../marks.js";
import { grouped, raised, short } from "../numbers.js";
import { extent, textWidth } from "../ticks.js";
import { isTouched } from "./badge.js";

/** @typedef {import("../types.js").ProofView} View */
/** @typedef {import("../types.js").Colours} Colours */
/** @typedef {import("../chart.js").Plot} Plot */
/** @typedef {import("../types.js").ProofData} ProofData */

const CLASS_KINDS = /** @type {const} */ ([
  ["proved", "good"],
  ["refuted", "bad"],
  ["undecided", "muted"],
]);
const CLASS_BAR = 16;
const CLASSES_HEIGHT = 52;
const CLASSES_ROW = 440; // pixels from which the words stand in one line
const FAR = 2; // times the span of the test set: a margin beyond is written at the edge, not drawn

/**
 * Classes of inputs by their verdict.
 * @param {ProofData} proof @param {number} width @param {Colours} colours
 */
export function classesBar(proof, width, colours) {
  const { total } = proof.classes;
  let at = 0;
  const parts = CLASS_KINDS.flatMap(([kind, colour]) => {
    const share = proof.classes[kind] / total;
    const from = at;
    at += share;
    if (!share) return [];
    return [
      s("rect", {
        x: from * width,
        y: 0,
        width: Math.max(share * width, 2),
        height: CLASS_BAR,
        fill: colours[colour],
      }),
    ];
  });
  const isRow = width >= CLASSES_ROW;
  const words = CLASS_KINDS.filter(([kind]) => proof.classes[kind]).map(([kind, colour], i) =>
    s(
      "tspan",
      { fill: colours[colour], dx: isRow || i ? 10 : 0, "font-weight": 600 },
      `${grouped(proof.classes[kind])} ${kind}`,
    ),
  );
  const text = s(
    "text",
    { x: 0, y: CLASS_BAR + 18, fill: colours.muted },
    `${grouped(total)} classes of inputs`,
    isRow ? words : null,
  );
  const below = isRow ? null : s("text", { x: 0, y: CLASS_BAR + 36 }, words);
  return s("g", {}, parts, text, below);
}

/** How high the bar stands with its words, which take two lines on a phone. @param {number} width */
export function classesHeight(width) {
  return width >= CLASSES_ROW ? CLASSES_HEIGHT : CLASSES_HEIGHT + 18;
}

/**
 * The margins of the test set now, with the line between right and wrong, and the proof's smallest margin.
 */
export function marginsChart(
  /** @type {View} */ view,
  /** @type {number} */ width,
  /** @type {number} */ height,
) {
  const { colours, payload } = view;
  const values = Array.from(view.error.margins).filter(Number.isFinite);
  const smallest = payload.proof?.smallest_margin ?? null;
  const span = extent([...values, 0], 0.04);
  const isNear =
    smallest !== null &&
    smallest > span[0] - FAR * (span[1] - span[0]) &&
    smallest < span[1] + FAR * (span[1] - span[0]);
  const domain = isNear ? extent([...values, 0, smallest], 0.04) : span;
  const colourOf = (/** @type {number} */ middle) => (middle < 0 ? colours.bad : colours.good);
  const title = `margin of the ${grouped(view.error.total)} test inputs`;
  const chart = histogram({ width, height, values, domain, label: title, colours, colourOf });
  chart.layer.append(...marginLine(chart, 0, colours.ink, "", colours));
  const words = smallest === null ? "" : smallestWords(view, smallest);
  if (isNear) chart.layer.append(...marginLine(chart, smallest, colours.accent, words, colours));
  else if (smallest !== null) chart.layer.append(edgeWords(chart, smallest, words, span, colours));
  return chart;
}

/**
 * What is proved holds for all inputs of the run's model; a refuted one may do worse still.
 * @param {View} view @param {number} smallest
 */
function smallestWords({ state, payload: { proof } }, smallest) {
  const which = proof.verdict === "proved" ? "smallest over all inputs" : "smallest found";
  return `${which}${isTouched(state) ? ", run’s model" : ""}: ${short(smallest)}`;
}

/**
 * @param {Plot} chart @param {number} value @param {string} colour @param {string} text
 * @param {Colours} colours
 */
function marginLine(chart, value, colour, text, colours) {
  const { box, X } = chart;
  const x = X(value);
  const right = box.left + box.width;
  const wide = 1.1 * textWidth(text, 12) + 6;
  const isLeft = x + wide > right && x - wide > box.left;
  const at = isLeft ? x - 6 : Math.min(x + 6, right + 6 - wide);
  const line = s("line", {
    x1: x,
    x2: x,
    y1: box.top,
    y2: box.top + box.height,
    stroke: colour,
    "stroke-width": 1.75,
    "stroke-dasharray": text ? "5 3" : null,
  });
  const words =
    text &&
    label(at, box.top + 9, text, {
      colours,
      colour,
      anchor: isLeft ? "end" : "start",
      weight: 600,
    });
  return words ? [line, words] : [line];
}

/**
 * @param {Plot} chart @param {number} value @param {string} words @param {number[]} span
 * @param {Colours} colours
 */
function edgeWords(chart, value, words, span, colours) {
  const isBelow = value < span[0];
  const { box } = chart;
  const text = isBelow ? `← ${words}` : `${words} →`;
  const x = isBelow ? Math.max(box.left, chart.X(0)) + 6 : box.left + box.width - 6;
  return label(x, box.top + 9, text, {
    colours,
    colour: colours.accent,
    anchor: isBelow ? "start" : "end",
    weight: 600,
  });
}

/**
 * The smallest margin of each answer digit: over all inputs where they are proved, else of those found.
 * @param {View} view @param {number} width @param {number} height
 */
export function digitMargins(view, width, height) {
  const { colours, payload } = view;
  const steps = payload.proof.steps;
  const bars = extent([0, ...steps.map((one) => one.margin)], 0.08);
  const x = {
    domain: /** @type {[number, number]} */ ([-0.5, steps.length - 0.5]),
    label: "answer digit, in the order of writing",
    ticks: steps.map((_, i) => i),
    format: (/** @type {number} */ i) => `${/** @type {import("../types.js").AdderTask} */ (payload.task).base}${raised(steps[i].column)}`,
    grid: false,
  };
  const chart = plot({
    width,
    height,
    x,
    y: {
      domain: bars,
      label: `smallest margin ${payload.proof.verdict === "proved" ? "over all inputs" : "found"}`,
    },
    colours,
  });
  const zero = chart.Y(0);
  steps.forEach((one, i) => {
    const y = chart.Y(one.margin);
    const [left, right] = [chart.X(i - 0.32), chart.X(i + 0.32)];
    const bar = s("rect", {
      x: left,
      y: Math.min(y, zero),
      width: right - left,
      height: Math.max(1, Math.abs(y - zero)),
      fill: one.margin > 0 ? colours.good : colours.bad,
    });
    chart.layer.append(bar, ...digitWords(chart, i, one.margin, right - left, colours));
  });
  chart.layer.append(
    s("line", {
      x1: chart.box.left,
      x2: chart.box.left + chart.box.width,
      y1: zero,
      y2: zero,
      stroke: colours.ink,
    }),
  );
  return chart;
}

/**
 * @param {Plot} chart @param {number} i @param {number} margin @param {number} room
 * @param {Colours} colours
 */
function digitWords(chart, i, margin, room, colours) {
  if (room < 26) return [];
  return [
    label(chart.X(i), chart.Y(Math.max(margin, 0)) - 9, short(margin, 2), {
      colours,
      size: 11,
      anchor: "middle",
    }),
  ];
}
