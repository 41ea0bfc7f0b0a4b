// The header of a spectra page: one model or two, their sizes, and what was left out.

import { h, refill } from "../../../pages/assets/dom.js";
import { capital, grouped } from "../../../pages/assets/numbers.js";
import { themeSwitch } from "../../../pages/assets/theme_switch.js";

/** @typedef {import("./types.js").SpectraStore} SpectraStore */
/** @typedef {import("./types.js").SpectraLab} SpectraLab */
/** @typedef {import("./types.js").Model} Model */

/** @param {Element} container @param {SpectraStore} store @param {SpectraLab} lab */
export function mountSpectraHeader(container, store, lab) {
  const { payload, models } = lab;
  const names = models.map((one) => one.name);
  refill(
    container,
    h(
      "div",
      { class: "top" },
      h("h1", {}, names.join(" and ")),
      h("div", { class: "tools" }, themeSwitch(store)),
    ),
    h("p", { class: "sentence" }, spectraLead(lab)),
    models.map((one) => h("div", { class: "chips" }, modelChips(one, models.length > 1))),
    spectraNotes([...payload.notes, ...models.flatMap((one) => one.notes), ...(lab.change?.notes ?? [])]),
  );
}

/** @param {SpectraLab} lab */
function spectraLead({ models, payload }) {
  if (payload.kind === "comparison")
    return (
      "The spectra of two models side by side, on the same scales, " +
      "and of the change from the first to the second."
    );
  const parts = [
    models[0].heads.rows ? "every attention head's QK and OV kernel" : null,
    models[0].weights.rows ? "every weight matrix" : null,
  ].filter(Boolean);
  return `The spectra of ${parts.join(" and of ")}, from the weights alone; the model was not run.`;
}

/** @param {Model} model @param {boolean} many */
function modelChips(model, many) {
  const shared =
    model.kv_heads && model.kv_heads !== model.headCount ? ` (${model.kv_heads} for keys and values)` : "";
  const chips = [
    many ? ["", model.name] : null,
    model.architecture ? ["architecture", model.architecture] : null,
    model.layers ? ["layers", grouped(model.layers)] : null,
    model.headCount ? ["heads", `${grouped(model.headCount)}${shared}`] : null,
    model.head_dim && model.headCount ? ["dimensions per head", grouped(model.head_dim)] : null,
    model.width ? ["width", grouped(model.width)] : null,
    model.numbers ? ["parameters in matrices", grouped(model.numbers)] : null,
  ];
  return chips
    .filter(Boolean)
    .map((chip) =>
      h("span", { class: "chip" }, chip?.[0] ? `${chip[0]} ` : "", h("strong", {}, String(chip?.[1]))),
    );
}

/** @param {string[]} notes */
function spectraNotes(notes) {
  const unique = [...new Set(notes)];
  return unique.length
    ? h(
        "ul",
        { class: "notes", "aria-label": "Notes" },
        unique.map((note) => h("li", {}, `${capital(note)}${/[.!?]$/.test(note) ? "" : "."}`)),
      )
    : null;
}
