// The parameter sheet: every stored parameter as a cell to select by click or key, and to drag.

import { svgRoot } from "../chart.js";
import { inkOn, signedColour } from "../colour.js";
import { h, s } from "../dom.js";
import { label } from "../marks.js";
import { full, grouped, short } from "../numbers.js";
import { tip } from "../tip.js";
import { sheetListen } from "./parameter_drag.js";
import { SHEET_EDGE, cellCorner, sheetLayout } from "./parameter_layout.js";
import { arrayLimit, currentValue, spotsOf, storedValue } from "./parameter_values.js";

/** @typedef {import("../view.js").View} View */

/**
 * @typedef {{spot: import("./parameter_values.js").Spot, group: SVGGElement, rect: Element, text: Element|null,
 *   dot: Element, width: number, shown: string}} SheetCell
 */
/** @typedef {{root: SVGElement, cells: Map<string, SheetCell>, keys: string[], view: View}} Sheet */

/**
 * @param {View} view @param {number} width @param {Set<string>} folded @param {(name: string) => void} unfold
 * @returns {Sheet}
 */
export function parameterSheet(view, width, folded, unfold) {
  const { groups, height } = sheetLayout(view.payload.model.parameters, width, folded);
  /** @type {Sheet} */
  const sheet = { root: svgRoot(width, height + 4, view.colours), cells: new Map(), keys: [], view };
  sheet.root.setAttribute("role", "group");
  sheet.root.setAttribute("class", "parameter-sheet");
  const dead = new Set(view.payload.model.counts.dead ?? []);
  for (const group of groups) sheet.root.append(sheetGroup(sheet, group, dead, unfold));
  sheet.keys = [...sheet.cells.keys()];
  sheetListen(sheet);
  return sheet;
}

/**
 * @param {Sheet} sheet @param {import("./parameter_layout.js").Group} group @param {Set<string>} dead
 * @param {(name: string) => void} unfold
 */
function sheetGroup(sheet, group, dead, unfold) {
  const { colours } = sheet.view;
  const count = `${grouped(group.size)} ${group.size === 1 ? "parameter" : "parameters"}`;
  const head = s(
    "text",
    { x: 0, y: 14, "font-size": 13, "font-weight": 650, fill: colours.ink },
    group.part,
    s("tspan", { dx: 8, fill: colours.muted, "font-weight": 400, "font-size": 12 }, count),
  );
  const line = s("line", { x1: 0, x2: group.width, y1: 20.5, y2: 20.5, stroke: colours.faint });
  const blocks = group.blocks.map((block) => sheetBlock(sheet, block, dead, unfold));
  return s("g", { transform: `translate(${group.x} ${group.y})` }, head, line, blocks);
}

/**
 * @param {Sheet} sheet @param {import("./parameter_layout.js").Block} block @param {Set<string>} dead
 * @param {(name: string) => void} unfold
 */
function sheetBlock(sheet, block, dead, unfold) {
  const { colours } = sheet.view;
  const captions = block.lines.map((line, index) =>
    label(0, 9 + 18 * index, line, { colour: colours.muted, halo: null, size: 11.5 }),
  );
  const place = { transform: `translate(${block.x} ${block.y})` };
  if (block.folded) return s("g", place, sheetFold(sheet, block, unfold), captions);
  const cells = spotsOf(block.array).map((spot) => {
    const isDead = block.array.dead || dead.has(block.array.name) || dead.has(spot.key);
    return sheetCell(sheet, block, spot, isDead);
  });
  return s("g", place, captions, block.array.size > 1 && sheetIndices(sheet, block), cells);
}

/**
 * @param {Sheet} sheet @param {import("./parameter_layout.js").Block} block
 * @param {(name: string) => void} unfold
 */
function sheetFold({ view }, block, unfold) {
  const open = () => unfold(block.array.name);
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open();
  };
  return s("rect", {
    x: -6,
    y: -5,
    width: block.width,
    height: block.height - 4,
    rx: 5,
    fill: view.colours.zero,
    stroke: view.colours.faint,
    cursor: "pointer",
    tabindex: 0,
    role: "button",
    "aria-label": `show ${block.array.name}, ${block.array.size} parameters`,
    "data-fold": block.array.name,
    onclick: open,
    onkeydown,
  });
}

/**
 * The indices of rows and columns, as in the array.
 * @param {Sheet} sheet @param {import("./parameter_layout.js").Block} block
 */
function sheetIndices({ view }, block) {
  const { colours } = view;
  const style = { colour: colours.muted, halo: null, size: 11 };
  const every = block.cell.width >= 20 ? 1 : 10;
  return spotsOf(block.array).flatMap(({ flat }) => {
    const { x, y, row, column, first } = cellCorner(block, flat);
    return [
      row === 0 &&
        column % every === 0 &&
        label(x + block.cell.width / 2, y - 7, column, { ...style, anchor: "middle" }),
      first &&
        block.rows > 1 &&
        row % every === 0 &&
        label(SHEET_EDGE - 5, y + block.cell.height / 2, row, { ...style, anchor: "end" }),
    ].filter(Boolean);
  });
}

/**
 * @param {Sheet} sheet @param {import("./parameter_layout.js").Block} block
 * @param {import("./parameter_values.js").Spot} spot @param {boolean} isDead
 */
function sheetCell(sheet, block, spot, isDead) {
  const { colours } = sheet.view;
  const { x, y } = cellCorner(block, spot.flat);
  const { width, height } = block.cell;
  const gap = block.text ? 1 : 0.5;
  const rect = s("rect", {
    x: x + gap,
    y: y + gap,
    width: width - 2 * gap,
    height: height - 2 * gap,
    rx: block.text ? 3 : 1,
  });
  const text = block.text
    ? s("text", {
        x: x + width / 2,
        y: y + height / 2 + 4,
        "font-size": 11.5,
        "text-anchor": "middle",
        "pointer-events": "none",
      })
    : null;
  const dot = s("circle", {
    cx: x + width - 4.5,
    cy: y + 4.5,
    r: block.text ? 3.5 : 2,
    fill: colours.accent,
    stroke: colours.paper,
    visibility: "hidden",
    "pointer-events": "none",
  });
  const corner =
    isDead &&
    s("path", {
      d: `M${x + gap} ${y + height - 9}v${9 - gap}h${9 - gap}z`,
      fill: colours.ink,
      stroke: colours.paper,
      "pointer-events": "none",
    });
  const group = s(
    "g",
    {
      class: "parameter-cell",
      role: "spinbutton",
      tabindex: -1,
      "data-key": spot.key,
      "aria-label": spot.key,
      cursor: "ew-resize",
    },
    rect,
    corner,
    text,
    dot,
  );
  group.style.touchAction = "pan-y";
  tip(group, () => cellTip(sheet, spot, isDead));
  sheet.cells.set(spot.key, { spot, group, rect, text, dot, width, shown: "" });
  return group;
}

/** @param {Sheet} sheet @param {import("./parameter_values.js").Spot} spot @param {boolean} isDead */
function cellTip({ view }, spot, isDead) {
  const changed = spot.key in view.state.changes;
  return [
    h("strong", {}, spot.key),
    h("div", {}, full(currentValue(view, spot))),
    changed && h("div", {}, `changed; stored ${full(storedValue(view, spot))}`),
    isDead && h("div", {}, "dead: it changed no logit over the inputs tried"),
  ].filter(Boolean);
}

/** All that depends on the view, and nothing that has not changed. @param {Sheet} sheet @param {View} view */
export function updateSheet(sheet, view) {
  sheet.view = view;
  const { colours, state } = view;
  const limits = new Map();
  const chosen = sheet.cells.has(state.chosen ?? "") ? state.chosen : sheet.keys[0];
  for (const cell of sheet.cells.values()) {
    const { spot } = cell;
    if (!limits.has(spot.name)) limits.set(spot.name, arrayLimit(view, spot.name));
    const value = currentValue(view, spot);
    const changed = spot.key in state.changes;
    const shown =
      `${value} ${changed} ${spot.key === state.chosen} ${spot.key === chosen} ` + limits.get(spot.name);
    if (shown === cell.shown) continue;
    cell.shown = shown;
    const fill = signedColour(value, limits.get(spot.name), colours);
    const edge = spot.key === state.chosen ? colours.ink : changed ? colours.accent : "none";
    setAll(cell.rect, { fill, stroke: edge, "stroke-width": edge === "none" ? 0 : 2.25 });
    if (cell.text) writeCell(cell.text, cellText(value), inkOn(fill));
    cell.dot.setAttribute("visibility", changed ? "visible" : "hidden");
    setAll(cell.group, {
      tabindex: spot.key === chosen ? 0 : -1,
      "aria-valuenow": value,
      "aria-valuetext": full(value),
    });
  }
}

/**
 * A long text is written a little smaller.
 * @param {Element} element @param {string} text @param {string} ink
 */
function writeCell(element, text, ink) {
  element.textContent = text;
  setAll(element, { fill: ink, "font-size": text.length > 6 ? 11 : 11.5 });
}

/** @param {Element} element @param {Object<string, any>} attributes */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** As many digits as a cell has room for; a whole number whole. @param {number} value */
function cellText(value) {
  const ways = [6, 4, 3, 2].map((digits) => short(value, digits));
  return (
    ways.find(
      (text) => text.length <= 6 && (Math.abs(value) < 1e4 || Math.abs(value) >= 1e6 || text === ways[0]),
    ) ?? (ways[3].length <= 7 ? ways[3] : value.toExponential(1).replace(/-/g, "−"))
  );
}
