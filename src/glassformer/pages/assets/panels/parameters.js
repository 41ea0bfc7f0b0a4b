// Every parameter of a model by name and value, grouped and counted; any of them can be dragged.

import { h } from "../dom.js";
import { grouped } from "../numbers.js";
import { parameterDetail, updateDetail } from "./parameter_detail.js";
import { foldedArrays } from "./parameter_layout.js";
import { parameterSheet, updateSheet } from "./parameter_sheet.js";
import { currentValue, spotAt, spotsOf, storedValue } from "./parameter_values.js";

/** @typedef {import("../view.js").View} View */

/**
 * @typedef {{payload: View["payload"], detail: import("./parameter_detail.js").Detail, folded: Set<string>,
 *   built: string, sheet: import("./parameter_sheet.js").Sheet, node: HTMLElement}} Stage
 */

const DETAIL_BESIDE = 820; // width from which on the detail stands beside the sheet
const DETAIL_WIDTH = 330;

/**
 * The elements stay while a parameter is dragged; the sheet is rebuilt for another width or theme.
 * @type {Stage|null}
 */
let parameterStage = null;

export const parametersPanel = {
  id: "parameters",
  title: "Every parameter",
  wide: true,
  /** @param {View} view */
  about: (view) => {
    const { unique, learned } = view.payload.model.counts;
    const all = learned === unique ? "all learned" : `${grouped(learned)} of them learned`;
    return (
      `All ${grouped(unique)} parameters of the model, ${all}. Drag one to see what it does ` +
      "to the answer, to every panel and to the error."
    );
  },
  /** @param {View} view @param {number} width */
  draw(view, width) {
    const stage = stageFor(view, width);
    updateSheet(stage.sheet, view);
    updateDetail(stage.detail, view);
    return {
      node: stage.node,
      alt: parametersAlt(view),
      get table() {
        return parametersData(view);
      },
      note: parametersNote(view),
      isRough: stage.detail.isRough,
    };
  },
};

/** @param {View} view @param {number} width */
function stageFor(view, width) {
  if (parameterStage?.payload !== view.payload) {
    const detail = parameterDetail();
    const folded = foldedArrays(view.payload.model.parameters);
    parameterStage = {
      payload: view.payload,
      detail,
      folded,
      built: "",
      sheet: /** @type {any} */ (null), // until it is built, below
      node: h("div", { class: "parameters-stage" }),
    };
  }
  const stage = parameterStage;
  const chosen = spotAt(view, view.state.chosen);
  if (chosen) stage.folded.delete(chosen.name);
  const built = `${width} ${view.colours.name} ${[...stage.folded].join()}`;
  if (stage.built !== built) buildStage(stage, view, width, built);
  return stage;
}

/** @param {Stage} stage @param {View} view @param {number} width @param {string} built */
function buildStage(stage, view, width, built) {
  const isBeside = width >= DETAIL_BESIDE;
  const focused = document.activeElement?.closest(".parameter-sheet [data-key]")?.getAttribute("data-key");
  const unfold = (/** @type {string} */ name) => {
    stage.folded.delete(name);
    stage.sheet.view.change({ chosen: spotAt(view, name)?.key ?? null });
  };
  stage.built = built;
  stage.sheet = parameterSheet(view, isBeside ? width - DETAIL_WIDTH - 28 : width, stage.folded, unfold);
  stage.node.classList.toggle("beside", isBeside);
  stage.node.replaceChildren(stage.sheet.root, stage.detail.node);
  if (focused)
    requestAnimationFrame(() => stage.sheet.cells.get(focused)?.group.focus({ preventScroll: true }));
}

/** Groups add up to the unique count; each convention has its name. @param {View} view */
function parametersNote(view) {
  const { counts, constants } = view.payload.model;
  const parts = Object.entries(counts.parts).map(
    ([part, size]) => `${part} ${grouped(/** @type {number} */ (size))}`,
  );
  const rank =
    counts.rank === null ? "" : `; the function depends on ${grouped(counts.rank)} of them (rank)`;
  const dead = counts.dead?.length
    ? ` A marked corner means dead: it changed no logit over ${grouped(counts.rank_contexts)} inputs.`
    : "";
  const others = [
    counts.stored !== counts.unique && `${grouped(counts.stored)} with ties written out`,
    counts.nonzero !== counts.unique && `${grouped(counts.nonzero)} not zero`,
    counts.learned !== counts.unique && `${grouped(counts.learned)} learned`,
  ].filter(Boolean);
  const sum =
    `${parts.join(" + ")} = ${grouped(counts.unique)} parameters` +
    `${others.length ? `, unique after tying; ${others.join("; ")}` : ""}`;
  return `${sum}${rank}.${dead} ${constants} Cells are coloured by sign and by size within their array.`;
}

/** @param {View} view */
function parametersAlt(view) {
  const { counts, parameters } = view.payload.model;
  const changed = Object.keys(view.state.changes).length;
  const arrays = parameters
    .map((each) => `${each.name} (${each.shape.join(" by ") || "scalar"})`)
    .join(", ");
  const spot = spotAt(view, view.state.chosen);
  const chosen = spot ? ` Selected: ${spot.key}, ${currentValue(view, spot)}.` : "";
  return (
    `${counts.unique} parameters in ${parameters.length} arrays: ${arrays}. ` +
    `${changed ? `${changed} changed.` : "None is changed."}${chosen}`
  );
}

/** @param {View} view */
function parametersData(view) {
  const columns = ["name", "index", "value", "stored", "learned", "tied", "dead"];
  const dead = new Set(view.payload.model.counts.dead ?? []);
  const rows = view.payload.model.parameters.flatMap((array) =>
    spotsOf(array).map((spot) => [
      array.name,
      spot.index.join(","),
      currentValue(view, spot),
      storedValue(view, spot),
      array.learned ? "learned" : "fixed",
      array.tied.join(" "),
      array.dead || dead.has(spot.key) ? "dead" : "",
    ]),
  );
  return { columns, rows };
}
