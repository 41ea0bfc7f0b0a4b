// What the address bar of a spectra page remembers, and what the panels are given.

import { headGrid, numbersOf, spectraModel, textsOf, weightKey } from "./data.js";
import { coloursInForce } from "../../../pages/assets/theme.js";

/** @typedef {import("./types.js").SpectraStore} SpectraStore */
/** @typedef {import("./types.js").SpectraPayload} SpectraPayload */
/** @typedef {import("./types.js").SpectraLab} SpectraLab */
/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./data.js").Frame} Frame */
/**
 * @typedef {{kernel: string, number: string, treatment: string, layer: number, head: number, measure: string,
 *   changed: string, weight: string, heads: string, weights: string, theme: "light"|"dark"|null, panel:
 *   string|null}} SpectraState
 */

export const CHANGE_COLUMNS = [
  "change_norm",
  "change_eff_rank",
  "change_eff_rank_relative",
  "change_n90",
  "similarity",
];
export const PLACE_COLUMNS = ["layer_idx", "head_idx", "kv_head_idx", "size", "expert"];

/** @param {SpectraPayload} payload */
export function spectraLab(payload) {
  const models = payload.models.map(spectraModel);
  const change = payload.change ? spectraModel(payload.change) : null;
  return { payload, models, change, first: firstSpectraState(models[0]) };
}

/**
 * The head of lowest QK rank, and the first type's layer of lowest rank: where there is something to see.
 * @param {Model} model @returns {SpectraState}
 */
function firstSpectraState(model) {
  const { heads, weights } = model;
  const lowest = lowestRow(
    heads,
    (row) => heads.text("kernel", row) === "QK" && heads.text("treatment", row) === "raw",
  );
  const type = model.courses[0]?.type;
  const weight = lowestRow(
    weights,
    (row) => weights.value("layer_idx", row) >= 0 && weights.text("weight_type", row) === type,
  );
  const any = weight >= 0 ? weight : weights.rows ? 0 : -1;
  return {
    kernel: "QK",
    number: "eff_rank",
    treatment: "raw",
    layer: lowest < 0 ? 0 : heads.value("layer_idx", lowest),
    head: lowest < 0 ? 0 : heads.value("head_idx", lowest),
    measure: "eff_rank",
    changed: "change_norm",
    weight: any < 0 ? "" : weightKey(weights, any),
    heads: "",
    weights: "",
    theme: null,
    panel: null,
  };
}

/** @param {Frame} frame @param {(row: number) => boolean} counts */
function lowestRow(frame, counts) {
  let best = -1;
  for (let row = 0; row < frame.rows; row++) {
    if (counts(row) && (best < 0 || frame.value("eff_rank", row) < frame.value("eff_rank", best))) best = row;
  }
  return best;
}

/** What a link asks for, as far as this page has it. @param {SpectraLab} lab */
export function acceptSpectra(lab) {
  const { heads, weights, courses } = lab.models[0];
  const known = {
    kernel: textsOf(heads, "kernel"),
    treatment: [...new Set([...textsOf(heads, "treatment"), ...textsOf(weights, "treatment")])],
    number: numbersOf(heads, PLACE_COLUMNS).map((one) => one.name),
    measure: Object.keys(courses[0]?.series ?? {}),
    weight: lab.models.flatMap((one) => [...one.weightRows.keys()]),
    changed: CHANGE_COLUMNS,
    theme: ["light", "dark"],
    panel: ["heads", "head", "depth", "change", "weight", "head-table", "weight-table"],
  };
  return (/** @type {Object<string, string>} */ wish) => {
    /** @type {Object<string, any>} */
    const patch = {};
    for (const [key, values] of Object.entries(known))
      if (key in wish && values.includes(wish[key])) patch[key] = wish[key];
    const grids = lab.models.map((one) => headGrid(one, "QK", "raw"));
    if (grids.some((grid) => grid.layers.includes(Number(wish.layer ?? NaN))))
      patch.layer = Number(wish.layer);
    const head = Number(wish.head ?? NaN);
    if (Number.isInteger(head) && head >= 0 && grids.some((grid) => head < grid.heads)) patch.head = head;
    for (const key of ["heads", "weights"]) if (key in wish) patch[key] = wish[key].slice(0, 200);
    return patch;
  };
}

/** @param {SpectraLab} lab @param {SpectraStore} store */
export function spectraView(lab, store) {
  const state = store.get();
  const colours = coloursInForce(lab.payload.colours, state);
  const dark = colours.name === "dark";
  return {
    ...lab,
    state,
    store,
    change: lab.change,
    set: store.set,
    colours,
    dark,
    lines: lab.payload.lines[dark ? "dark" : "light"],
  };
}
