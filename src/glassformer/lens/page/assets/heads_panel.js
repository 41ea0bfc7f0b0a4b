// The heatmap of heads: one measure of every head; two models side by side on one scale, and their
// difference.

import { h } from "../../../pages/assets/dom.js";
import { short } from "../../../pages/assets/numbers.js";
import { buttonRow, dropDown, sameWords, treatmentChoice } from "./choices.js";
import { headGrid, numbersOf, textsOf } from "./data.js";
import { drawHeat } from "./heat.js";
import { heatScale } from "./scale.js";
import { PLACE_COLUMNS } from "./state.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./heat.js").HeatMap} HeatMap */
/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./data.js").FrameColumn} FrameColumn */
/** @typedef {import("./data.js").HeadGrid} HeadGrid */

/** @type {{key: string, node: Element|null, maps: import("./heat.js").DrawnHeat[]}} */
const heatKept = { key: "", node: null, maps: [] };

export const headsPanel = {
  id: "heads",
  title: "Heads",
  wide: true,
  missing: (/** @type {View} */ view) =>
    view.models.some((one) => one.heads.rows)
      ? null
      : "No attention heads of this model were read, so there is no map of them.",
  about: (/** @type {View} */ view) => {
    const { label, about } = numberColumn(view);
    return (
      `${view.state.kernel} ${label} of every head${about ? `: ${about}` : ""}. ` +
      "Choose a head to see its spectra below."
    );
  },
  draw: drawHeads,
};

/** @param {View} view */
function numberColumn(view) {
  const model = view.models.filter((one) => one.heads.rows)[0];
  return model.heads.column(model.heads.has(view.state.number) ? view.state.number : "eff_rank");
}

/** @param {View} view @param {number} width @returns {import("../../../pages/assets/types.js").Drawing} */
function drawHeads(view, width) {
  const { state } = view;
  const column = numberColumn(view);
  const key = JSON.stringify([width, view.colours.name, state.kernel, column.name, state.treatment]);
  if (heatKept.key !== key) Object.assign(heatKept, { key, ...heatMaps(view, width, column) });
  for (const map of heatKept.maps) map.mark(state.layer, state.head);
  const table = headsNumbers(view, column);
  return {
    node: /** @type {Element} */ (heatKept.node),
    alt: headsAlt(view, column, table),
    table,
    controls: headsControls(view),
  };
}

/** @param {View} view @param {number} width @param {FrameColumn} column */
function heatMaps(view, width, column) {
  const wanted = wantedMaps(view, column);
  const grids = wanted.map((one) => one.grid);
  const columns = heatColumns(width, wanted.length, grids);
  const part = Math.floor((width - 20 * (columns - 1)) / columns);
  const maps = wanted.map((one, i) => drawHeat({ ...one, width: i === 2 && columns === 2 ? width : part }));
  const roots = maps.map((one) => one.root);
  return { node: h("div", { class: "heats" }, roots), maps };
}

/**
 * A map for each model, on one scale, and their difference where they have the same heads.
 * @param {View} view @param {FrameColumn} column
 */
function wantedMaps(view, column) {
  const { state, colours } = view;
  const models = view.models.filter((one) => one.heads.rows);
  const grids = models.map((one) => headGrid(one, state.kernel, state.treatment));
  const read = (/** @type {Model} */ model) => (/** @type {number} */ row) =>
    model.heads.value(column.name, row);
  const every = models.flatMap((one, i) => grids[i].rows.flat().map(read(one)));
  const scale = heatScale(every, column.scale);
  const pick = (/** @type {number} */ layer, /** @type {number} */ head) => {
    const now = view.store.get();
    if (now.layer !== layer || now.head !== head) view.set({ layer, head });
  };
  const words = `${state.kernel} ${column.label}`;
  /** @type {Array<Omit<HeatMap, "width">>} */
  const wanted = models.map((one, i) => ({
    key: `heat${i}`,
    title: models.length > 1 ? one.name : words,
    grid: grids[i],
    value: read(one),
    scale,
    words,
    colours,
    pick,
    isBare: models.length > 1,
  }));
  if (models.length === 2 && sameGrid(grids[0], grids[1]))
    wanted.push(differenceMap(models, grids, wanted[0], column, state));
  return wanted;
}

/** @param {number} width @param {number} maps @param {HeadGrid[]} grids */
function heatColumns(width, maps, grids) {
  const need = Math.max(...grids.map((grid) => 60 + 13 * grid.layers.length), 280);
  return Math.max(1, Math.min(maps, Math.floor((width + 20) / (need + 20))));
}

/** @param {HeadGrid} one @param {HeadGrid} two */
function sameGrid(one, two) {
  return JSON.stringify([one.layers, one.heads]) === JSON.stringify([two.layers, two.heads]);
}

/**
 * Second minus first.
 * @param {Model[]} models @param {HeadGrid[]} grids @param {Omit<HeatMap, "width">} first
 * @param {FrameColumn} column @param {View["state"]} state
 */
function differenceMap(models, grids, first, column, state) {
  const value = (/** @type {number} */ row, /** @type {number} */ layer, /** @type {number} */ head) =>
    models[1].heads.value(column.name, grids[1].rows[grids[1].layers.indexOf(layer)][head]) -
    models[0].heads.value(column.name, row);
  const every = grids[0].layers.flatMap((/** @type {number} */ layer, /** @type {number} */ i) =>
    grids[0].rows[i].map((/** @type {number} */ row, /** @type {number} */ head) => value(row, layer, head)),
  );
  return {
    ...first,
    key: "heat2",
    title: `${models[1].name} minus ${models[0].name}`,
    value,
    scale: heatScale(every, "signed"),
    words: `change of ${state.kernel} ${column.label}`,
  };
}

/** @param {View} view */
function headsControls(view) {
  const { state } = view;
  const { heads } = view.models.filter((one) => one.heads.rows)[0];
  const kernels = textsOf(heads, "kernel").map(sameWords);
  const numbers = numbersOf(heads, PLACE_COLUMNS).map(
    (one) => /** @type {[string, string]} */ ([one.name, one.label]),
  );
  const chosen = heads.has(state.number) ? state.number : "eff_rank";
  return [
    buttonRow("kernel", "Kernel", kernels, state.kernel, (kernel) => view.set({ kernel })),
    dropDown("number", "Measure", numbers, chosen, (number) => view.set({ number })),
    ...treatmentChoice("treatment", heads, view),
  ];
}

/** @param {View} view @param {FrameColumn} column */
function headsNumbers(view, column) {
  const { state } = view;
  const many = view.models.length > 1;
  const columns = [...(many ? ["model"] : []), "layer", "head", "kernel", "treatment", column.name];
  const rows = view.models.flatMap((model) => {
    const grid = headGrid(model, state.kernel, state.treatment);
    return grid.layers.flatMap((layer, i) =>
      grid.rows[i].flatMap((row, head) =>
        row < 0
          ? []
          : [
              [
                ...(many ? [model.name] : []),
                layer,
                head,
                state.kernel,
                state.treatment,
                model.heads.value(column.name, row),
              ],
            ],
      ),
    );
  });
  return { columns, rows };
}

/** @param {View} view @param {FrameColumn} column @param {{rows: Array<Array<string|number>>}} table */
function headsAlt(view, column, table) {
  const values = table.rows.map((row) => Number(row[row.length - 1])).filter(Number.isFinite);
  const ends = values.length ? `, from ${short(Math.min(...values))} to ${short(Math.max(...values))}` : "";
  return (
    `${view.state.kernel} ${column.label} of ${values.length} heads${ends}. Chosen: ` +
    `layer ${view.state.layer} head ${view.state.head}.`
  );
}
