// The input, by typing or clicks. An invalid text gives an error that says what is valid.

import { h, refill } from "../dom.js";
import { tip } from "../tip.js";
import { follow } from "./follow.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Store} Store */
/** @typedef {import("../types.js").Payload} Payload */
/** @typedef {import("../view.js").Lab} Lab */

/**
 * @typedef {{root: Element, inputs: HTMLInputElement[], text: () => string, show(view: View): void}} Fields
 * `text` is what a user wrote in them, `show` writes the state's input there.
 */

/** @param {HTMLElement} container @param {Store} store @param {() => View} viewOf */
export function mountInput(container, store, viewOf) {
  const { payload, lab } = viewOf();
  const alert = h("p", { class: "error", id: "input-error", role: "alert" });
  const answer = h("output", { class: "answer", id: "answer" });
  const fields = lab.family.fields(viewOf, offer);
  refill(
    container,
    h(
      "form",
      { class: "input-form", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      fields.root,
    ),
    h("div", { class: "answer-line" }, answer, startButton(payload, store)),
    alert,
  );

  /** Takes a text if it is valid. @param {string} text */
  function offer(text) {
    const read = lab.read(text);
    if ("error" in read) return complain(read.error);
    complain("");
    if (read.input !== store.get().input) store.set({ input: read.input, place: null });
  }
  /** @param {string} words */
  function complain(words) {
    if (alert.textContent !== words) refill(alert, words);
    for (const field of fields.inputs) markField(field, words !== "");
  }
  let known = "";
  // At once, not with the next frame: what is typed before it would be overwritten.
  const keepUp = () => {
    const view = viewOf();
    if (view.state.input === known) return;
    known = view.state.input;
    if (readText(lab, fields.text()) !== known) fields.show(view);
    complain("");
  };
  keepUp();
  store.subscribe(keepUp);
  follow(store, () => refill(answer, lab.family.glance(viewOf(), offer)));
  for (const field of fields.inputs)
    field.addEventListener("keydown", (event) => restore(event, fields, viewOf, complain));
}

/** @param {Lab} lab @param {string} text */
function readText(lab, text) {
  const read = lab.read(text);
  return "error" in read ? null : read.input;
}

/** @param {HTMLInputElement} field @param {boolean} isWrong */
function markField(field, isWrong) {
  if (isWrong) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

/** Escape in a field: the last good text is back. */
function restore(
  /** @type {KeyboardEvent} */ event,
  /** @type {Fields} */ fields,
  /** @type {() => View} */ viewOf,
  /** @type {(words: string) => void} */ complain,
) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  fields.show(viewOf());
  complain("");
}

/** @param {Payload} payload @param {Store} store */
function startButton(payload, store) {
  const load = () => store.set({ input: payload.start.input, place: null });
  const words = payload.proof?.counterexample
    ? "Counterexample"
    : payload.proof?.hardest
      ? "Hardest input"
      : "First input";
  const button = h("button", { type: "button", class: "quiet", id: "worst-input", onclick: load }, words);
  tip(button, () => [`${payload.start.input}: ${payload.start.why}`]);
  return button;
}
