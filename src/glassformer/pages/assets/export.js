// Files of what a panel shows: the picture as PNG and SVG, its numbers as CSV and JSON, without loss.

import { s } from "./dom.js";
import { svgRoot } from "./chart.js";
import { textWidth } from "./ticks.js";
import { full } from "./numbers.js";

/** @typedef {import("./types.js").Colours} Colours */
/** @typedef {{columns: string[], rows: Array<Array<string|number|null>>}} Table */

const PNG_SCALE = 3;
const EXPORT_EDGE = 16; // paper round the picture

/**
 * The SVG as a text that stands alone, on the paper of the theme.
 * @param {Element} svg @param {Colours} colours
 */
function svgText(svg, colours) {
  const [width, height] = svgSize(svg);
  const inner = /** @type {Element} */ (svg.cloneNode(true));
  inner.setAttribute("x", String(EXPORT_EDGE));
  inner.setAttribute("y", String(EXPORT_EDGE));
  for (const element of [inner, ...inner.querySelectorAll("*")]) {
    for (const name of ["tabindex", "class", "style", "aria-describedby", "data-key"])
      element.removeAttribute(name);
  }
  const [wide, high] = [width + 2 * EXPORT_EDGE, height + 2 * EXPORT_EDGE];
  const outer = svgRoot(
    wide,
    high,
    colours,
    s("rect", { width: wide, height: high, fill: colours.paper }),
    inner,
  );
  return new XMLSerializer().serializeToString(outer);
}

/** @param {Element} svg @param {string} name @param {Colours} colours */
export function downloadSvg(svg, name, colours) {
  saveFile(new Blob([svgText(svg, colours)], { type: "image/svg+xml" }), `${name}.svg`);
}

/**
 * At three times the size on the screen.
 * @param {Element} svg @param {string} name @param {Colours} colours
 */
export async function downloadPng(svg, name, colours) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg, colours))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * PNG_SCALE;
  canvas.height = image.naturalHeight * PNG_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("the browser could not make a PNG of this picture");
  saveFile(blob, `${name}.png`);
}

/** @param {Table} table @param {string} name */
export function downloadCsv(table, name) {
  saveFile(new Blob([csvText(table)], { type: "text/csv;charset=utf-8" }), `${name}.csv`);
}

/** @param {Table} table @param {string} name */
export function downloadJson(table, name) {
  saveFile(new Blob([jsonText(table)], { type: "application/json" }), `${name}.json`);
}

/** RFC 4180: a cell with a comma, a quote or a line break stands in quotes. @param {Table} table */
export function csvText({ columns, rows }) {
  /** @param {string|number|null} value */
  const cell = (value) => {
    const text = value === null ? "" : typeof value === "number" ? full(value) : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** Columns and rows; NaN and the infinities, which JSON lacks, as texts. @param {Table} table */
export function jsonText({ columns, rows }) {
  const plain = (/** @type {string} */ _, /** @type {any} */ value) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
  return `${JSON.stringify({ columns, rows }, plain, 1)}\n`;
}

/**
 * One SVG of what a panel drew: its own, several where they stand on the page, or the table where there is
 * none.
 * @param {Element} node @param {Table} table @param {Colours} colours
 */
export function pictureOf(node, table, colours) {
  if (node.tagName === "svg") return node;
  const all = [...node.querySelectorAll("svg")].filter((svg) => !svg.parentElement?.closest("svg"));
  if (!all.length) return tablePicture(table, colours);
  const frames = all.map((svg) => svg.getBoundingClientRect());
  const [left, top] = [
    Math.min(...frames.map((each) => each.left)),
    Math.min(...frames.map((each) => each.top)),
  ];
  const right = Math.max(...frames.map((each, i) => each.left + svgSize(all[i])[0]));
  const bottom = Math.max(...frames.map((each, i) => each.top + svgSize(all[i])[1]));
  const parts = all.map((svg, i) => {
    const part = /** @type {Element} */ (svg.cloneNode(true));
    part.setAttribute("x", String(frames[i].left - left));
    part.setAttribute("y", String(frames[i].top - top));
    return part;
  });
  return svgRoot(right - left, bottom - top, colours, ...parts);
}

/** @param {Table} table @param {Colours} colours */
function tablePicture({ columns, rows }, colours) {
  const texts = [columns, ...rows].map((row) => row.map((value) => (value === null ? "" : String(value))));
  const widths = columns.map((_, j) => Math.max(...texts.map((row) => textWidth(row[j] ?? "", 12))) + 20);
  const starts = widths.map((_, j) => widths.slice(0, j).reduce((sum, each) => sum + each, 0));
  const lines = texts.map((row, i) =>
    row.map((text, j) => s("text", { x: starts[j], y: 18 + 20 * i, "font-weight": i ? null : 600 }, text)),
  );
  return svgRoot(
    widths.reduce((sum, each) => sum + each, 0),
    20 * texts.length + 8,
    colours,
    ...lines,
  );
}

/** @param {Element} svg @returns {[number, number]} */
function svgSize(svg) {
  return [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
}

/** @param {Blob} blob @param {string} name */
function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
