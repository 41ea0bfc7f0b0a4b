// The number line of an adder: the state of a sum, the digit that each band writes, the effect of a carry.

import { svgRoot } from "../chart.js";
import { mix } from "../colour.js";
import { h, s } from "../dom.js";
import { arrow, label } from "../marks.js";
import { short } from "../numbers.js";
import { rove } from "../rove.js";
import { niceTicks, textWidth, tickText } from "../ticks.js";
import { tip } from "../tip.js";
import { numberlineData } from "./numberline_data.js";
import { lineAlt, lineNote, lineTable, shareWords } from "./numberline_words.js";

/** @typedef {import("../types.js").AdderView} View */

const LINE_SIDE = 58; // left of the line, for the names of its rows
const LINE_TOP = 34; // above the rows: what the bands write
const LINE_ROW = 78; // of one carry
const LINE_HEIGHT = LINE_TOP + 2 * LINE_ROW + 78; // of one line in all

/** @typedef {import("./numberline_data.js").Line} Line */
/** @typedef {import("./numberline_data.js").LineData} LineData */

/** @type {import("../types.js").Panel<View>} */
export const numberlinePanel = {
  id: "numberline",
  families: ["addition"],
  title: "The number line",
  wide: false,
  about: (view) =>
    "The model's state along the direction in which sums differ most. " +
    "Each dot is a test sum in the colour of its right digit; " +
    "the bands show what the model would write there for " +
    `${view.answer.a}\u00a0+\u00a0${view.answer.b}.`,
  draw(view, width) {
    const data = numberlineData(view);
    if (!data) return lineNothing();
    const lines = data.lines.map((line, index) => drawnLine(view, data, line, width, index * LINE_HEIGHT));
    const node = svgRoot(width, LINE_HEIGHT * lines.length, view.colours, lines);
    rove(
      node,
      lines.flatMap((line) => [".band", ".sum"].map((mark) => [...line.querySelectorAll(mark)])),
    );
    return { node, alt: lineAlt(view, data), table: lineTable(view, data), note: lineNote(data) };
  },
};

function lineNothing() {
  const words = "Click a digit of the answer to see its number line.";
  return { node: h("p", { class: "quiet" }, words), alt: words, table: { columns: [], rows: [] } };
}

/** @param {View} view @param {LineData} data @param {Line} line @param {number} width @param {number} top */
function drawnLine(view, data, line, width, top) {
  const span = Math.max(60, width - LINE_SIDE - 10);
  const X = (/** @type {number} */ value) => LINE_SIDE + ((value - line.low) / (line.high - line.low)) * span;
  return s(
    "g",
    { transform: `translate(0 ${top})` },
    lineBandShapes(view, line, X),
    lineRowNames(view, data),
    lineDots(view, data, line, X),
    lineBorder(view, line, X),
    lineCarry(view, data, line, X),
    lineMarker(view, data, line, X),
    lineTicks(view, data, line, X, span),
  );
}

/**
 * Bands in their tokens' tints, with what they write above.
 * @param {View} view @param {Line} line @param {(v: number) => number} X
 */
function lineBandShapes(view, line, X) {
  const { colours, payload } = view;
  return line.bands.map(({ from, to, winner }) => {
    const token = payload.tokens[winner];
    const [left, right] = [X(from), X(to)];
    const wide = right - left >= 8 + 7 * token.label.length;
    const shape = s("rect", {
      x: left,
      y: LINE_TOP - 22,
      width: Math.max(0, right - left),
      height: 2 * LINE_ROW + 22,
      fill: mix(token.colour, colours.paper, colours.tint * 0.7),
      class: "band",
      "data-winner": winner,
    });
    tip(shape, () => [`writes ${token.label} from ${short(from, 6)} to ${short(to, 6)}`]);
    const head = s("rect", {
      x: left,
      y: LINE_TOP - 22,
      width: Math.max(0, right - left),
      height: 18,
      fill: token.colour,
      "pointer-events": "none",
    });
    const text =
      wide &&
      label((left + right) / 2, LINE_TOP - 13, token.label, {
        colour: token.ink,
        halo: null,
        anchor: "middle",
        weight: 700,
        size: 13,
      });
    return s("g", {}, shape, head, text);
  });
}

/** @param {View} view @param {LineData} data */
function lineRowNames(view, data) {
  const { colours } = view;
  const rows = [0, 1].map((carry) => {
    const y = lineRowMiddle(carry);
    const count = data.sums.carry.filter((each) => each === carry).length;
    return [
      label(0, y - 7, carry ? "carry" : "no carry", { colour: colours.ink, halo: null }),
      label(0, y + 9, `${count} sums`, { colour: colours.muted, halo: null, size: 11 }),
    ];
  });
  const y = LINE_TOP + LINE_ROW;
  const parting = s("line", { x1: 0, x2: LINE_SIDE - 6, y1: y, y2: y, stroke: colours.faint });
  return [
    label(0, LINE_TOP - 13, "writes", { colour: colours.muted, halo: null, size: 11 }),
    ...rows.flat(),
    parting,
  ];
}

/** @param {number} carry */
function lineRowMiddle(carry) {
  return LINE_TOP + LINE_ROW * (carry ? 0.5 : 1.5);
}

/**
 * Test sums: round without a carry, square with one; those with the same query token are outlined:
 * the bands hold for them too.
 * @param {View} view @param {LineData} data @param {Line} line @param {(v: number) => number} X
 */
function lineDots(view, data, line, X) {
  const { colours, payload, tokens, place } = view;
  const { sums } = data;
  const isSame = (/** @type {number} */ i) => Number(sums.own[i] === tokens[place]);
  const order = [...sums.right.keys()].sort((a, b) => isSame(a) - isSame(b) || line.x[a] - line.x[b]);
  return order
    .filter((i) => line.x[i] >= line.low && line.x[i] <= line.high)
    .map((i) => {
      const same = isSame(i);
      const y = lineRowMiddle(sums.carry[i]) + (((i * 0.618034) % 1) - 0.5) * (LINE_ROW - 18);
      const size = same ? 4 : 2.6;
      const look = {
        fill: payload.tokens[sums.right[i]].colour,
        stroke: same ? colours.ink : colours.paper,
        "stroke-width": same ? 1 : 0.6,
        opacity: same ? 1 : 0.75,
        class: "sum",
      };
      const x = X(line.x[i]);
      const dot = sums.carry[i]
        ? s("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8, ...look })
        : s("circle", { cx: x, cy: y, r: size, ...look });
      const name = (/** @type {number} */ token) => payload.tokens[token].label;
      const column = sums.isTop ? "" : `${name(sums.first[i])} + ${name(sums.second[i])}, `;
      tip(dot, () => [
        `${column}carry ${sums.carry[i]}: ${name(sums.right[i])} is right. It is at ${short(line.x[i], 6)}.`,
      ]);
      return dot;
    });
}

/**
 * The distance from the state to the nearest border.
 * @param {View} view @param {Line} line @param {(v: number) => number} X
 */
function lineBorder(view, line, X) {
  const { colours } = view;
  if (line.nearest === null) return null;
  const y = LINE_TOP + 2 * LINE_ROW + 12;
  const [from, to] = [X(line.now), X(line.nearest)];
  const words = `${short(Math.abs(line.nearest - line.now))} to the border`;
  const left = Math.min(Math.max(Math.min(from, to), LINE_SIDE), X(line.high) - textWidth(words, 11.5) * 1.2);
  return [
    s("line", {
      x1: to,
      x2: to,
      y1: LINE_TOP - 4,
      y2: y + 5,
      stroke: colours.ink,
      "stroke-width": 2,
      "stroke-dasharray": "5 3",
    }),
    s("line", { x1: from, x2: to, y1: y, y2: y, stroke: colours.ink, "stroke-width": 3 }),
    s("line", { x1: from, x2: from, y1: y - 5, y2: y + 5, stroke: colours.ink, "stroke-width": 2 }),
    label(left, y + 15, words, { colours, size: 11.5, weight: 600 }),
  ];
}

/**
 * The shift by a carry: to here, or from here.
 * @param {View} view @param {LineData} data @param {Line} line @param {(v: number) => number} X
 */
function lineCarry(view, data, line, X) {
  const { colours } = view;
  if (line.carryMove === null) return null;
  const [from, to] = data.digit.carry
    ? [line.now - line.carryMove, line.now]
    : [line.now, line.now + line.carryMove];
  const inside = (/** @type {number} */ value) => Math.min(Math.max(X(value), LINE_SIDE), X(line.high));
  const y = LINE_TOP + LINE_ROW;
  return s(
    "g",
    {},
    arrow(inside(from), y + LINE_ROW / 2 - 6, inside(to), y - LINE_ROW / 2 + 6, colours.ink, {
      width: 1.75,
      dash: data.digit.carry ? undefined : "4 3",
    }),
  );
}

/**
 * The current sum's state.
 * @param {View} view @param {LineData} data @param {Line} line @param {(v: number) => number} X
 */
function lineMarker(view, data, line, X) {
  const { colours, payload } = view;
  const token = payload.tokens[data.digit.token];
  const [x, y] = [X(line.now), lineRowMiddle(data.digit.carry)];
  const look = { fill: token.colour, stroke: colours.ink, "stroke-width": 2.5 };
  const shape = data.digit.carry
    ? s("rect", { x: x - 10, y: y - 10, width: 20, height: 20, rx: 2, ...look })
    : s("circle", { cx: x, cy: y, r: 11, ...look });
  tip(shape, () => [
    `${view.answer.a} + ${view.answer.b} is at ${short(line.now, 6)} and writes ${token.label}.`,
  ]);
  return [
    shape,
    label(x, y, token.label, { colour: token.ink, halo: null, anchor: "middle", weight: 700, size: 13 }),
  ];
}

/**
 * @param {View} view @param {LineData} data @param {Line} line @param {(v: number) => number} X
 * @param {number} span
 */
function lineTicks(view, data, line, X, span) {
  const { colours } = view;
  const y = LINE_TOP + 2 * LINE_ROW;
  const ticks = niceTicks(line.low, line.high, Math.max(2, Math.floor(span / 90)));
  const which = line.index ? "second direction" : "main direction";
  return [
    s("line", { x1: LINE_SIDE, x2: LINE_SIDE + span, y1: y, y2: y, stroke: colours.muted }),
    ...ticks.map((tick) => s("line", { x1: X(tick), x2: X(tick), y1: y, y2: y + 4, stroke: colours.muted })),
    ...ticks.map((tick) =>
      label(X(tick), y + 45, tickText(tick), {
        colour: colours.muted,
        halo: null,
        anchor: "middle",
        size: 11,
      }),
    ),
    label(
      LINE_SIDE + span / 2,
      y + 63,
      `${span > 360 ? `${data.source.what}, ` : ""}${which}: ${shareWords(line.share)} of the variance`,
      { colour: colours.muted, halo: null, anchor: "middle" },
    ),
  ];
}
