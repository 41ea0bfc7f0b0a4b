// The head of a spectra page: the model or the two, how large they are, and what was left out.

import { h, refill } from "../dom.js";
import { capital, grouped } from "../numbers.js";
import { themeSwitch } from "../theme_switch.js";

/** @param {Element} container @param {any} store @param {any} lab */
export function mountSpectraHeader(container, store, lab) {
  const { payload, models } = lab;
  const names = models.map((/** @type {any} */ one) => one.name);
  refill(
    container,
    h(
      "div",
      { class: "top" },
      h("h1", {}, names.join(" and ")),
      h("div", { class: "tools" }, themeSwitch(store)),
    ),
    h("p", { class: "sentence" }, spectraLead(lab)),
    models.map((/** @type {any} */ one) => h("div", { class: "chips" }, modelChips(one, models.length > 1))),
    spectraNotes([
      ...payload.notes,
      ...models.flatMap((/** @type {any} */ one) => one.notes),
      ...(lab.change?.notes ?? []),
    ]),
  );
}

/** @param {any} lab */
function spectraLead({ models, payload }) {
  if (payload.kind === "comparison")
    return (
      "The spectra of two models beside each other, on the same scales, " +
      "and of what changed from the first to the second."
    );
  const parts = [
    models[0].heads.rows ? "every attention head's QK and OV kernel" : null,
    models[0].weights.rows ? "every weight matrix" : null,
  ].filter(Boolean);
  return `The spectra of ${parts.join(" and of ")}, from the weights alone: nothing was run.`;
}

/** @param {any} model @param {boolean} many */
function modelChips(model, many) {
  const shared =
    model.kv_heads && model.kv_heads !== model.headCount ? ` (${model.kv_heads} for keys and values)` : "";
  const chips = [
    many ? ["", model.name] : null,
    model.architecture ? ["architecture", model.architecture] : null,
    model.layers ? ["layers", grouped(model.layers)] : null,
    model.headCount ? ["heads", `${grouped(model.headCount)}${shared}`] : null,
    model.head_dim && model.headCount ? ["dimensions a head", grouped(model.head_dim)] : null,
    model.width ? ["width", grouped(model.width)] : null,
    model.numbers ? ["numbers in matrices", grouped(model.numbers)] : null,
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
