// The sum as people write it: carries above, the two numbers, what the model wrote, what is right, the margins.

import { mix } from "../colour.js";
import { s } from "../dom.js";
import { label } from "../marks.js";
import { short } from "../numbers.js";
import { textWidth } from "../ticks.js";

/** @typedef {import("../types.js").AdderView} View */
/** @typedef {import("../judge.js").Digit} Digit */

const DIGIT_ROW = 28; // height of a row
const DIGIT_SIDE = 58; // for the names of the rows
const DIGIT_WIDE = 42; // of a column, at most

/** @typedef {{key: string, name: string, text: (column: number) => string}} DigitRow */

/** How large the table is. @param {View} view @param {number} width */
export function digitTableSize(view, width) {
  const columns = view.payload.task.digits + 1;
  const cell = Math.min(DIGIT_WIDE, (width - DIGIT_SIDE - 2) / columns);
  return { columns, cell, width: DIGIT_SIDE + columns * cell + 2, height: 6 * DIGIT_ROW + 12 };
}

/** @param {View} view @param {number} width @param {(place: number) => void} choose */
export function digitTable(view, width, choose) {
  const { columns, cell } = digitTableSize(view, width);
  const left = (/** @type {number} */ column) => DIGIT_SIDE + (columns - 1 - column) * cell;
  const rows = digitRows(view);
  const y = (/** @type {number} */ row) => 8 + row * DIGIT_ROW + (row >= 3 ? 4 : 0);
  const lineY = y(3) - 2;
  return s(
    "g",
    { class: "digit-table" },
    digitCursor(view, left, cell),
    rows.map((row, index) =>
      label(0, y(index) + DIGIT_ROW / 2, row.name, { colour: view.colours.muted, halo: null, size: 12 }),
    ),
    s("line", {
      x1: DIGIT_SIDE,
      x2: DIGIT_SIDE + columns * cell,
      y1: lineY,
      y2: lineY,
      stroke: view.colours.ink,
      "stroke-width": 1.5,
    }),
    rows.flatMap((row, index) =>
      Array.from({ length: columns }, (_, column) =>
        digitCell(view, row, column, left(column), y(index), cell),
      ),
    ),
    digitTargets(view, left, cell, choose),
  );
}

/** @param {View} view @returns {DigitRow[]} */
function digitRows(view) {
  const { answer, payload } = view;
  const places = payload.task.digits;
  const digitOf = (/** @type {bigint} */ number) => (/** @type {number} */ column) => {
    const text = number.toString(payload.task.base);
    return column < Math.max(text.length, 1) ? text[text.length - 1 - column] : column < places ? "0" : "";
  };
  const byColumn = digitsByColumn(view);
  return [
    { key: "carry", name: "carry", text: (column) => (byColumn[column].carry ? "1" : "") },
    { key: "a", name: "a", text: digitOf(answer.a) },
    { key: "b", name: "+ b", text: digitOf(answer.b) },
    { key: "written", name: "writes", text: (column) => payload.tokens[byColumn[column].token].label },
    { key: "wanted", name: "right", text: (column) => payload.tokens[byColumn[column].wanted].label },
    { key: "margin", name: "margin", text: (column) => digitMargin(byColumn[column].margin) },
  ];
}

/** Three characters or so, as the columns are narrow. @param {number} margin */
function digitMargin(margin) {
  return short(margin, 2).replace(/^(−?)0\./, "$1.");
}

/** The digits of the answer, units first. @param {View} view */
export function digitsByColumn(view) {
  return [...view.answer.digits].sort((one, two) => one.column - two.column);
}

/**
 * @param {View} view @param {DigitRow} row @param {number} column @param {number} x @param {number} y
 * @param {number} cell
 */
function digitCell(view, row, column, x, y, cell) {
  const { colours } = view;
  const digit = digitsByColumn(view)[column];
  const wrong = digit.token !== digit.wanted;
  const [middle, centre] = [x + cell / 2, y + DIGIT_ROW / 2];
  if (row.key === "written") return digitWritten(view, digit, x, y, cell);
  const isNumber = row.key === "a" || row.key === "b";
  const text = row.text(column);
  const isCramped = row.key === "margin" && textWidth(text, 11) > cell - 2;
  if (isCramped && digit.place !== view.place) return null; // the cursor's alone has room
  const lead =
    isNumber && column > 0 && digitIsLeading(view, row.key === "a" ? view.answer.a : view.answer.b, column);
  const colour =
    row.key === "wanted"
      ? wrong
        ? colours.bad
        : colours.muted
      : row.key === "carry"
        ? colours.accent
        : lead || row.key === "margin"
          ? colours.muted
          : colours.ink;
  const size = row.key === "margin" ? 11 : row.key === "carry" ? 13 : 17;
  const weight =
    row.key === "carry" || (row.key === "wanted" && wrong)
      ? 700
      : row.key === "margin" && digit.margin < 0
        ? 700
        : undefined;
  return label(middle, centre, text, {
    colour: row.key === "margin" && digit.margin <= 0 ? colours.bad : colour,
    halo: null,
    size,
    anchor: "middle",
    weight,
  });
}

/** @param {View} view @param {bigint} number @param {number} column */
function digitIsLeading(view, number, column) {
  return column >= number.toString(view.payload.task.base).length;
}

/**
 * A written digit in its token's colour; a wrong one framed, with a cross.
 * @param {View} view @param {Digit} digit @param {number} x @param {number} y @param {number} cell
 */
function digitWritten(view, digit, x, y, cell) {
  const { colours, payload } = view;
  const token = payload.tokens[digit.token];
  const wrong = digit.token !== digit.wanted;
  const room = Math.min(3, cell * 0.08);
  const right = x + cell - room;
  const frame = { x: x + room, y: y + 2, width: cell - 2 * room, height: DIGIT_ROW - 4, rx: 3 };
  return s(
    "g",
    {},
    s("rect", { ...frame, fill: token.colour }),
    wrong && s("rect", { ...frame, fill: "none", stroke: colours.bad, "stroke-width": 3 }),
    label(x + cell / 2, y + DIGIT_ROW / 2, token.label, {
      colour: token.ink,
      halo: null,
      size: token.label.length > 1 ? 11 : 17,
      weight: 700,
      anchor: "middle",
    }),
    wrong && s("circle", { cx: right - 1, cy: y + 4, r: 6, fill: colours.bad }),
    wrong &&
      s("path", {
        d: `M${right - 3.5} ${y + 1.5}l5 5m0 -5l-5 5`,
        stroke: colours.paper,
        "stroke-width": 1.75,
      }),
  );
}

/**
 * The frame round the column of the cursor.
 * @param {View} view @param {(column: number) => number} left @param {number} cell
 */
function digitCursor(view, left, cell) {
  const chosen = view.answer.digits.find((each) => each.place === view.place);
  if (!chosen) return null;
  const { colours } = view;
  return s("rect", {
    x: left(chosen.column) + 0.5,
    y: 3,
    width: cell - 1,
    height: 6 * DIGIT_ROW + 8,
    rx: 6,
    class: "digit-cursor",
    fill: mix(colours.accent, colours.paper, 0.1),
    stroke: colours.accent,
    "stroke-width": 2,
  });
}

/**
 * What is clicked: a whole column.
 * @param {View} view @param {(column: number) => number} left @param {number} cell
 * @param {(place: number) => void} choose
 */
function digitTargets(view, left, cell, choose) {
  return view.answer.digits.map((digit) => {
    const title = s(
      "title",
      {},
      `column ${digit.column}: writes ${view.payload.tokens[digit.token].label}, margin ${short(digit.margin)}`,
    );
    const rect = s(
      "rect",
      {
        x: left(digit.column),
        y: 0,
        width: cell,
        height: 6 * DIGIT_ROW + 12,
        fill: "transparent",
        cursor: "pointer",
        class: "digit-column",
        "data-column": digit.column,
        onclick: () => choose(digit.place),
      },
      title,
    );
    return rect;
  });
}
