// The input of an adder: two numbers, and the sum that the model writes.

import { h } from "../dom.js";

/** @typedef {import("../types.js").AdderView} View */
/** @typedef {import("../types.js").AdderTask} AdderTask */

const FIELD_DIGITS = 13; // digits that a field of the usual width shows

/** @param {() => View} viewOf @param {(text: string) => void} offer @returns {import("./input.js").Fields} */
export function adderFields(viewOf, offer) {
  const { task } = viewOf().payload;
  const fields = ["a", "b"].map((name) => numberField(name, task));
  const [a, b] = fields;
  const text = () => `${a.value.trim()}+${b.value.trim()}`;
  const put = (/** @type {string[]} */ pair) => {
    [a.value, b.value] = pair;
    offer(text());
  };
  listenToNumbers(fields, () => offer(text()), put);
  const button = (/** @type {string} */ id, /** @type {string} */ words, /** @type {() => void} */ act) =>
    h("button", { type: "button", id, onclick: act }, words);
  const root = h(
    "div",
    { class: "input-adder" },
    h("label", { class: "input-label", for: "input-a" }, "Add"),
    a,
    h("span", { "aria-hidden": "true" }, "+"),
    b,
    button("random-input", "Random", () => put([randomNumber(task), randomNumber(task)])),
    button("swap-input", "Swap", () => put(pairOf(viewOf()).reverse())),
  );
  return { root, inputs: fields, text, show: (view) => void ([a.value, b.value] = pairOf(view)) };
}

/**
 * "57+68" is typed through both fields, or pasted into one.
 * @param {HTMLInputElement[]} fields @param {() => void} changed @param {(pair: string[]) => void} put
 */
function listenToNumbers(fields, changed, put) {
  const [a, b] = fields;
  for (const field of fields) {
    field.addEventListener("input", changed);
    field.addEventListener("keydown", (event) => event.key === "Enter" && changed());
    field.addEventListener("paste", (event) => {
      const pair = pastedPair(event.clipboardData?.getData("text") ?? "");
      if (!pair) return;
      event.preventDefault();
      put(pair);
    });
  }
  a.addEventListener("keydown", (event) => {
    if (event.key !== "+") return;
    event.preventDefault();
    b.select();
  });
}

/** A whole sum that is pasted into one field. @param {string} text */
function pastedPair(text) {
  return /^\s*(\d+)\s*\+\s*(\d+)\s*=?\s*$/.exec(text)?.slice(1) ?? null;
}

/** The two numbers of the state's input. @param {import("../view.js").View} view */
function pairOf(view) {
  return view.state.input.split("+");
}

/** @param {string} name @param {AdderTask} task @returns {HTMLInputElement} */
function numberField(name, task) {
  const most = BigInt(task.base) ** BigInt(task.digits) - 1n;
  const attributes = {
    type: "text",
    inputmode: "numeric",
    id: `input-${name}`,
    class: String(most).length > FIELD_DIGITS ? "field number long" : "field number",
    size: String(most).length,
    autocomplete: "off",
    "aria-label": name === "a" ? "First number" : "Second number",
    "aria-describedby": "input-error",
    title: task.base === 10 ? `up to ${task.digits} digits` : `up to ${most}, in base ten`,
  };
  return h("input", attributes);
}

/** Of any length, each equally likely. @param {AdderTask} task */
function randomNumber({ digits, base }) {
  const length = 1 + Math.floor(Math.random() * digits);
  const drawn = Array.from({ length }, () => Math.floor(Math.random() * base));
  return String(drawn.reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n));
}

/**
 * The sum as it is written, its wrong digits marked; in another base than ten, where a wrong digit moves many of
 * those that are shown, the whole of a wrong sum.
 * @param {View} view
 */
export function adderGlance(view) {
  const { got, expected, right, margin } = view.answer;
  const isTen = view.payload.task.base === 10;
  const size = Math.max(got.length, expected.length);
  const [said, wanted] = [got.padStart(size), expected.padStart(size)];
  const digits = [...said].map((digit, i) =>
    (isTen ? digit === wanted[i] : right || digit === " ") ? digit : h("mark", { class: "wrong-digit" }, digit === " " ? "0" : digit),
  );
  return [
    h("span", { class: "equals", "aria-hidden": "true" }, "="),
    h("span", { class: "sum", "aria-label": `The model writes ${got}` }, digits),
    right
      ? h(
          "span",
          { class: "answer-words good" },
          "✓ right",
          h("span", { class: "more" }, ` · ${view.marginWords(margin)}`),
        )
      : h(
          "span",
          { class: "answer-words bad" },
          `✗ wrong, the sum is ${expected}`,
          h("span", { class: "more" }, ` · ${view.marginWords(margin)}`),
        ),
  ];
}
