// One head: the eigenvalues of its two kernels in the complex plane, its singular values, and its row of the
// table.

import { h } from "../../../pages/assets/dom.js";
import { unpack } from "../../../pages/assets/unpack.js";
import { spectrumPlot } from "./curves.js";
import { headKey, numbersOf, textsOf } from "./data.js";
import { factsTable } from "./facts.js";
import { complexPlane, countEigenvalues, magnitudesOf } from "./plane.js";
import { PLACE_COLUMNS } from "./state.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */

export const headPanel = {
  id: "head",
  title: "One head",
  wide: true,
  missing: (/** @type {View} */ view) =>
    view.models.some((one) => one.heads.rows) ? null : "No attention heads of this model were read.",
  about: (/** @type {View} */ view) => {
    const { layer, head, treatment } = view.state;
    const model = view.models.filter((one) => one.heads.rows)[0];
    const row = headRow(model, view, "QK");
    const shared = model.heads.value("kv_head_idx", row);
    const keys = row >= 0 && shared !== head ? `, which reads key-value head ${shared}` : "";
    const manner = treatment === "raw" ? "" : ` (${treatment})`;
    return (
      `Layer ${layer}, head ${head}${keys}${manner}. QK scores a query against a key; ` +
      "OV is what the head writes where it attends."
    );
  },
  draw: drawHead,
};

/** @param {Model} model @param {View} view @param {string} kernel */
function headRow(model, view, kernel) {
  const { layer, head, treatment } = view.state;
  return model.headRows.get(headKey(layer, head, kernel, treatment)) ?? -1;
}

/** @param {View} view @param {number} width @returns {import("../../../pages/assets/types.js").Drawing} */
function drawHead(view, width) {
  const models = view.models.filter((one) => one.heads.rows);
  const kernels = textsOf(models[0].heads, "kernel");
  const gap = 28;
  const columns = width >= 1020 ? 4 : width >= 520 ? 2 : 1;
  const part = Math.floor((width - gap * (columns - 1)) / columns);
  const plots = kernels.flatMap((kernel) => kernelPlots(view, models, kernel, part));
  const sides = models.flatMap((model) =>
    kernels.map((kernel) => ({
      title: models.length > 1 ? `${kernel}, ${model.name}` : kernel,
      frame: model.heads,
      row: headRow(model, view, kernel),
    })),
  );
  const facts = factsTable(numbersOf(models[0].heads, PLACE_COLUMNS), sides);
  const node = h(
    "div",
    {},
    h("div", { class: "plots", style: `gap: ${gap}px` }, plots),
    h("details", { class: "more" }, h("summary", {}, "All measures of this head"), facts),
  );
  keepOpen(/** @type {HTMLDetailsElement} */ (node.querySelector("details")));
  return {
    node,
    alt: headAlt(view, models, kernels),
    table: headNumbers(view, models, kernels),
    note: headNote(view, models, kernels),
  };
}

let headIsOpen = false;

/** @param {HTMLDetailsElement} details */
function keepOpen(details) {
  details.open = headIsOpen;
  details.addEventListener("toggle", () => (headIsOpen = details.open));
}

/**
 * @param {View} view @param {Model[]} models @param {string} kernel @param {number} width
 * @returns {Element[]}
 */
function kernelPlots(view, models, kernel, width) {
  const { colours } = view;
  const rows = models.map((model) => headRow(model, view, kernel));
  const clouds = models
    .map((model, i) => ({ eigenvalues: model.headEigenvalues(rows[i]), hollow: i > 0 }))
    .filter((one) => one.eigenvalues.length);
  if (!clouds.length)
    return [h("p", { class: "muted" }, `${kernel}: the spectra of this head are not in this page.`)];
  const curves = models
    .flatMap((model, i) => headCurves(model, rows[i], i, models.length > 1, colours))
    .filter((one) => one.values.length)
    .sort((a, b) => Number(Boolean(a.dash)) - Number(Boolean(b.dash)));
  const plane = complexPlane(clouds, Math.min(width, 380), colours, `${kernel} eigenvalues`);
  return [
    plane,
    spectrumPlot({
      curves,
      width,
      height: Math.min(width, 380) + 26,
      colours,
      title: `${kernel} singular values`,
    }),
  ];
}

/**
 * The singular values, of one model alone its eigenvalues too, and those of random weights.
 * @param {Model} model @param {number} row @param {number} i @param {boolean} many @param {Colours} colours
 */
function headCurves(model, row, i, many, colours) {
  const values = model.headValues(row);
  const magnitudes = magnitudesOf(model.headEigenvalues(row));
  const norm = model.heads.value("frobenius", row);
  const random = model.random.heads[String(model.heads.value("size", row))];
  const colour = i ? colours.negative : colours.accent;
  const own = [wholeCurve(values, colour, many ? `σ, ${model.name}` : "singular values σ")];
  if (!many) own.push(wholeCurve(magnitudes, colours.negative, "|eigenvalues|", { width: 1.2 }));
  if (random && i === 0 && norm > 0) {
    const expected = unpack(random).data.map((value) => value * norm);
    own.push(wholeCurve(expected, colours.muted, "σ of a random head", { dash: "5 3", width: 1.4 }));
  }
  return own;
}

/**
 * A curve through every component.
 * @param {Float64Array} values @param {string} colour @param {string} words
 * @param {{dash?: string, width?: number}} [style] @returns {import("./curves.js").Curve}
 */
function wholeCurve(values, colour, words, style = {}) {
  return { components: values.map((_, at) => at + 1), values, colour, words, ...style };
}

/** @param {View} view @param {Model[]} models @param {string[]} kernels */
function headNote(view, models, kernels) {
  const said = kernels.map((kernel) => {
    const count = countEigenvalues(models[0].headEigenvalues(headRow(models[0], view, kernel)));
    return (
      `${kernel}: ${count.real} real (◆) and ${count.complex} complex (●) ` +
      `eigenvalues${count.zero ? `, ${count.zero} zero` : ""}`
    );
  });
  const both = models.length > 1 ? ` Filled: ${models[0].name}; hollow: ${models[1].name}.` : "";
  const hasRandom =
    models[0].random.heads[String(models[0].heads.value("size", headRow(models[0], view, kernels[0])))];
  const random = "The random head: independent normal weights of the same shapes and norm (mean of 8 draws).";
  return `${said.join("; ")}.${both}${hasRandom ? ` ${random}` : ""}`;
}

/** @param {View} view @param {Model[]} models @param {string[]} kernels */
function headAlt(view, models, kernels) {
  const said = kernels.map(
    (kernel) =>
      `${kernel} effective rank ` +
      `${models[0].heads.value("eff_rank", headRow(models[0], view, kernel)).toFixed(2)}`,
  );
  return (
    `Layer ${view.state.layer} head ${view.state.head}: ${said.join(", ")}. ` +
    "Eigenvalues in the complex plane and singular values by size."
  );
}

/** @param {View} view @param {Model[]} models @param {string[]} kernels */
function headNumbers(view, models, kernels) {
  const columns = [
    "model",
    "layer",
    "head",
    "kernel",
    "treatment",
    "component",
    "singular_value",
    "eigenvalue_real",
    "eigenvalue_imaginary",
  ];
  const { layer, head, treatment } = view.state;
  const rows = models.flatMap((model) =>
    kernels.flatMap((kernel) => {
      const row = headRow(model, view, kernel);
      const [values, eigenvalues] = [model.headValues(row), model.headEigenvalues(row)];
      const count = Math.max(values.length, eigenvalues.length / 2);
      return Array.from({ length: count }, (_, i) => [
        model.name,
        layer,
        head,
        kernel,
        treatment,
        i + 1,
        values[i] ?? null,
        eigenvalues[2 * i] ?? null,
        eigenvalues[2 * i + 1] ?? null,
      ]);
    }),
  );
  return { columns, rows };
}
