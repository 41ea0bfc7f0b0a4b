// The menu of a panel: its picture and its data as files.

import { downloadCsv, downloadJson, downloadPng, downloadSvg, pictureOf } from "./export.js";
import { h } from "./dom.js";

/** @typedef {import("./types.js").AnyView} AnyView */
/** @typedef {import("./types.js").Drawing} Drawing */
/** @typedef {import("./types.js").Colours} Colours */

/** @type {Array<[string, string, (drawing: Drawing, name: string, colours: Colours) => void]>} */
const FORMATS = [
  [
    "PNG",
    "picture, three times the size",
    (drawing, name, colours) => downloadPng(pictureOf(drawing.node, drawing.table, colours), name, colours),
  ],
  [
    "SVG",
    "picture, any size",
    (drawing, name, colours) => downloadSvg(pictureOf(drawing.node, drawing.table, colours), name, colours),
  ],
  ["CSV", "data, for spreadsheets", (drawing, name) => downloadCsv(drawing.table, name)],
  ["JSON", "data, for programs", (drawing, name) => downloadJson(drawing.table, name)],
];

/**
 * @param {import("./types.js").Panel<any>} panel @param {() => AnyView} viewOf
 * @param {() => Drawing|null} drawingNow @returns {HTMLDetailsElement}
 */
export function saveMenu(panel, viewOf, drawingNow) {
  const menu = h("details", { class: "menu" });
  const buttons = FORMATS.map(([format, about, give]) => {
    const onclick = () => {
      const [drawing, view] = [drawingNow(), viewOf()];
      menu.open = false;
      if (drawing) give(drawing, fileStem(view, panel), view.colours);
    };
    return h(
      "button",
      { type: "button", "data-format": format, onclick },
      h("strong", {}, format),
      h("span", {}, about),
    );
  });
  menu.append(
    h("summary", { "aria-label": `Save “${panel.title}”` }, "Save"),
    h("div", { class: "list" }, buttons),
  );
  closeAside(menu);
  return menu;
}

/**
 * An open menu closes with Escape, and when something else is touched or focused.
 * @param {HTMLDetailsElement} menu
 */
function closeAside(menu) {
  const leave = (/** @type {EventTarget|null} */ target) => {
    if (target instanceof Node && !menu.contains(target)) menu.open = false;
  };
  document.addEventListener("pointerdown", (event) => leave(event.target));
  menu.addEventListener("focusout", (event) => leave(event.relatedTarget));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}

/** "lucky7-attention". @param {AnyView} view @param {{id: string}} panel */
function fileStem(view, panel) {
  const name = `${view.payload?.name ?? document.title}-${panel.id}`;
  return name.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "");
}
