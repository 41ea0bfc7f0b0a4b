// The input of an adder: two numbers, and the sum that the model writes.

import { h } from "../dom.js";

/** @typedef {import("../types.js").AdderView} View */

/** @param {() => View} viewOf @param {(text: string) => void} offer @returns {import("./input.js").Fields} */
export function adderFields(viewOf, offer) {
  const digits = viewOf().payload.task.digits;
  const fields = ["a", "b"].map((name) => numberField(name, digits));
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
    button("random-input", "Random", () => put([randomNumber(digits), randomNumber(digits)])),
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

/** @param {string} name @param {number} digits @returns {HTMLInputElement} */
function numberField(name, digits) {
  const attributes = {
    type: "text",
    inputmode: "numeric",
    id: `input-${name}`,
    class: "field number",
    size: digits,
    autocomplete: "off",
    "aria-label": name === "a" ? "First number" : "Second number",
    "aria-describedby": "input-error",
    title: `up to ${digits} digits`,
  };
  return h("input", attributes);
}

/** Of any length, each equally likely. @param {number} digits */
function randomNumber(digits) {
  const length = 1 + Math.floor(Math.random() * digits);
  const text = Array.from({ length }, () => Math.floor(Math.random() * 10)).join("");
  return String(BigInt(text));
}

/** The sum as it is written, its wrong digits marked. @param {View} view */
export function adderGlance(view) {
  const { got, expected, right, margin } = view.answer;
  const size = Math.max(got.length, expected.length);
  const [said, wanted] = [got.padStart(size), expected.padStart(size)];
  const digits = [...said].map((digit, i) =>
    digit === wanted[i] ? digit : h("mark", { class: "wrong-digit" }, digit === " " ? "0" : digit),
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
