// The row of a table: one measure per line, with its meaning in a tooltip.

import { h } from "../../../pages/assets/dom.js";
import { short } from "../../../pages/assets/numbers.js";
import { tip } from "../../../pages/assets/tip.js";

/** @typedef {import("./data.js").Frame} Frame */
/** @typedef {import("./data.js").FrameColumn} FrameColumn */

/** @param {number} value */
function cellText(value) {
  return Number.isNaN(value) ? "–" : short(value, 5);
}

/**
 * Columns beside each other.
 * @param {FrameColumn[]} columns of a table @param {Array<{title: string, frame: Frame, row: number}>} sides
 */
export function factsTable(columns, sides) {
  const treated = sides.some(
    ({ frame, row }) => frame.value("eff_rank", row) !== frame.value("eff_rank_raw", row),
  );
  const shown = columns.filter(
    (one) =>
      (treated || one.name !== "eff_rank_raw") &&
      sides.some(
        ({ frame, row }) => row >= 0 && frame.has(one.name) && !Number.isNaN(frame.value(one.name, row)),
      ),
  );
  const lines = shown.map((one) => {
    const name = h("th", { scope: "row" }, one.label);
    if (one.about) tip(name, () => [one.about]);
    name.removeAttribute("tabindex");
    return h(
      "tr",
      {},
      name,
      sides.map(({ frame, row }) => h("td", { class: "number" }, cellText(frame.value(one.name, row)))),
    );
  });
  const head = h(
    "tr",
    {},
    h("th", {}, ""),
    sides.map(({ title }) => h("th", { class: "number", scope: "col" }, title)),
  );
  return h(
    "div",
    { class: "table facts", tabindex: 0, role: "region", "aria-label": "Measures" },
    h("table", {}, h("thead", {}, head), h("tbody", {}, lines)),
  );
}
