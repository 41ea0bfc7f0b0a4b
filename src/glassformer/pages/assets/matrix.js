// Matrices as coloured cells, with the numbers inside where they fit, and one tab stop: the arrow keys walk
// the cells.
//
//   const values = [[1, 0], [0.2, 0.8]];
//   matrix({width, rows: ["4", "7"], columns: ["4", "7"], values, kind: "share", colours}).root

import { inkOn, shareColour, signedColour } from "./colour.js";
import { fixed, short } from "./numbers.js";
import { h, s } from "./dom.js";
import { rove } from "./rove.js";
import { svgRoot } from "./chart.js";
import { textWidth } from "./ticks.js";
import { tip } from "./tip.js";

/** @typedef {import("./types.js").Colours} Colours */
/** @typedef {import("./types.js").Tensor} Tensor */
/**
 * @typedef {{width: number, rows: string[], columns: string[], values: number[][]|Tensor, colours: Colours,
 *   kind: "signed"|"share", limit?: (row: number) => number, text?: (value: number, i: number, j: number) =>
 *   string, cell?: (i: number, j: number) => Object<string, any>, title?: (i: number, j: number) => string,
 *   tip?: (i: number, j: number) => import("./dom.js").Child[], mask?: (i: number, j: number) => boolean,
 *   rowColours?: string[], columnColours?: string[], rowTitle?: string, columnTitle?: string, cellSize?:
 *   number}} MatrixOptions
 */
/** @typedef {{left: number, top: number, wide: number, high: number, turned: boolean, size: number}} Cells */

const LEAST_CELL = 20; // pixels: below it the matrix grows wider than its card, and scrolls inside
const MOST_CELL = 56;
const TALLEST_CELL = 40;
const LABEL_SIZE = 12;

/** @param {MatrixOptions} options @returns {{root: SVGElement, cells: Array<Array<SVGElement|null>>}} */
export function matrix(options) {
  const { rows, columns, colours } = options;
  const at = valueReader(options.values);
  const frame = cellFrame(options);
  const write = numberWriter(options, at, frame);
  const largest = largestSize(options, at);
  const limit = options.limit ?? (() => largest);
  const cells = rows.map((_, i) =>
    columns.map((_, j) =>
      options.mask?.(i, j) ? null : matrixCell(options, frame, i, j, at(i, j), limit(i), write),
    ),
  );
  const blanks = rows.flatMap((_, i) =>
    columns.map((_, j) => (cells[i][j] ? null : blankCell(frame, i, j, colours))),
  );
  const body = s("g", {}, blanks, cells.flat());
  const width = frame.left + frame.wide * columns.length + 2;
  const root = svgRoot(
    width,
    frame.top + frame.high * rows.length + 2,
    colours,
    matrixTitles(options, frame),
    matrixHeads(options, frame),
    body,
  );
  if (options.title || options.tip) rove(body, cells);
  return { root, cells };
}

/** @param {number[][]|Tensor} values @returns {(i: number, j: number) => number} */
function valueReader(values) {
  if (Array.isArray(values)) return (i, j) => values[i][j];
  return (i, j) => values.data[i * values.shape[1] + j];
}

/** @param {MatrixOptions} options @returns {Cells} */
function cellFrame({ width, rows, columns, cellSize, rowColours, rowTitle, columnTitle }) {
  const longest = Math.max(0, ...rows.map((each) => textWidth(each, LABEL_SIZE)));
  const left = Math.ceil(longest + (rowColours ? 16 : 10)) + (rowTitle ? 20 : 0);
  const fitting = Math.floor((width - left - 2) / Math.max(1, columns.length));
  const wide = cellSize ?? Math.max(LEAST_CELL, Math.min(MOST_CELL, fitting));
  const across = Math.max(0, ...columns.map((each) => textWidth(each, LABEL_SIZE)));
  const turned = across > wide - 4;
  const top = Math.ceil(turned ? across + 10 : 24) + (columnTitle ? 20 : 0);
  return {
    left,
    top,
    wide,
    high: cellSize ?? Math.min(TALLEST_CELL, wide),
    turned,
    size: wide < 38 ? 11 : 12,
  };
}

/**
 * How numbers are written: with as many digits as fit in every cell, or not at all.
 * @param {MatrixOptions} options @param {(i: number, j: number) => number} at @param {Cells} frame
 * @returns {(value: number, i: number, j: number) => string}
 */
function numberWriter(options, at, frame) {
  /** @type {Array<(value: number, i: number, j: number) => string>} */
  const ways = options.text
    ? [options.text]
    : options.kind === "share"
      ? [(value) => cellShare(value, 2), (value) => cellShare(value, 2).replace(/^0\./, ".")]
      : [3, 2].map((digits) => (/** @type {number} */ value) => short(value, digits));
  const fits = (/** @type {typeof ways[0]} */ way) =>
    options.rows.every((_, i) =>
      options.columns.every(
        (_, j) => options.mask?.(i, j) || textWidth(way(at(i, j), i, j), frame.size) <= frame.wide - 4,
      ),
    );
  return ways.find(fits) ?? (() => "");
}

/** @param {number} value @param {number} decimals */
function cellShare(value, decimals) {
  return value === 0 || value === 1 ? String(value) : fixed(value, decimals);
}

/** @param {MatrixOptions} options @param {(i: number, j: number) => number} at */
function largestSize({ rows, columns, mask }, at) {
  let most = 0;
  rows.forEach((_, i) =>
    columns.forEach((_, j) => {
      const size = mask?.(i, j) ? 0 : Math.abs(at(i, j));
      if (Number.isFinite(size) && size > most) most = size;
    }),
  );
  return most;
}

/**
 * @param {MatrixOptions} options @param {Cells} frame @param {number} i @param {number} j
 * @param {number} value @param {number} limit @param {(value: number, i: number, j: number) => string} write
 */
function matrixCell(options, { left, top, wide, high, size }, i, j, value, limit, write) {
  const fill =
    options.kind === "share"
      ? shareColour(value, options.colours)
      : signedColour(value, limit, options.colours);
  const [x, y] = [left + j * wide, top + i * high];
  const more = options.cell?.(i, j) ?? {};
  const rect = s("rect", { x: x + 0.5, y: y + 0.5, width: wide - 1, height: high - 1, rx: 3, fill, ...more });
  const text = write(value, i, j);
  const ink = {
    x: x + wide / 2,
    y: y + high / 2 + size * 0.36,
    "text-anchor": "middle",
    "font-size": size,
    fill: inkOn(fill),
    "pointer-events": "none",
  };
  const group = s("g", { "data-key": `${i},${j}` }, rect, text ? s("text", ink, text) : null);
  const words = options.title?.(i, j);
  if (words) group.setAttribute("aria-label", words);
  if (words && !group.hasAttribute("role")) group.setAttribute("role", "img");
  const { tip: content } = options;
  if (content || words) {
    group.setAttribute("tabindex", "-1");
    tip(group, content ? () => content(i, j) : () => [h("div", {}, words)]);
  }
  return group;
}

/**
 * A cell that cannot be, such as attention to a later position.
 * @param {Cells} frame @param {number} i @param {number} j @param {Colours} colours
 */
function blankCell({ left, top, wide, high }, i, j, colours) {
  return s("circle", {
    cx: left + (j + 0.5) * wide,
    cy: top + (i + 0.5) * high,
    r: 1.5,
    fill: colours.faint,
  });
}

/** @param {MatrixOptions} options @param {Cells} frame */
function matrixHeads(
  { rows, columns, rowColours, columnColours, colours },
  { left, top, wide, high, turned },
) {
  const beside = rows.map((text, i) =>
    matrixHead(text, left - 8, top + (i + 0.5) * high, "end", rowColours?.[i], colours),
  );
  const over = columns.map((text, j) => {
    const x = left + (j + 0.5) * wide;
    if (!turned) return matrixHead(text, x, top - 12, "middle", columnColours?.[j], colours, wide - 2);
    return s(
      "g",
      { transform: `translate(${x} ${top - 6}) rotate(-90)` },
      matrixHead(text, 0, 0, "start", undefined, colours),
    );
  });
  return s("g", {}, beside, over);
}

/**
 * A row's or column's label, on its token's colour where it has one.
 * @param {string} text @param {number} x @param {number} y @param {"start"|"middle"|"end"} anchor
 * @param {string|undefined} colour @param {Colours} colours @param {number} [most] pixels that it has
 */
function matrixHead(text, x, y, anchor, colour, colours, most = Infinity) {
  const words = s(
    "text",
    {
      x: colour && anchor === "end" ? x - 1 : x,
      y: y + 4,
      "text-anchor": anchor,
      fill: colour ? inkOn(colour) : colours.muted,
    },
    text,
  );
  if (!colour) return words;
  const width = Math.min(most, Math.max(18, textWidth(text, LABEL_SIZE) + 10));
  const left = anchor === "end" ? x - width + 4 : x - width / 2;
  words.setAttribute("x", String(left + width / 2));
  words.setAttribute("text-anchor", "middle");
  return s("g", {}, s("rect", { x: left, y: y - 9, width, height: 18, rx: 5, fill: colour }), words);
}

/** @param {MatrixOptions} options @param {Cells} frame */
function matrixTitles({ rowTitle, columnTitle, columns, rows, colours }, { left, top, wide, high }) {
  const over =
    columnTitle &&
    s(
      "text",
      { x: left + (columns.length * wide) / 2, y: 13, "text-anchor": "middle", fill: colours.muted },
      columnTitle,
    );
  const place = `translate(13 ${top + (rows.length * high) / 2}) rotate(-90)`;
  const beside =
    rowTitle && s("text", { transform: place, "text-anchor": "middle", fill: colours.muted }, rowTitle);
  return s("g", {}, over, beside);
}
