// The input of a rule: a field to type in, a cell for every token read, a palette, and the next token.

import { h } from "../dom.js";
import { percent } from "../numbers.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Payload} Payload */
/** @typedef {import("../types.js").Token} Token */

/** @param {() => View} viewOf @param {(text: string) => void} offer @returns {import("./input.js").Fields} */
export function ruleFields(viewOf, offer) {
  const { payload } = viewOf();
  const field = ruleField(payload, offer);
  const palette = rulePalette(payload, (label) => offer(joined([...viewOf().labels, label])));
  const back = h(
    "button",
    {
      type: "button",
      "aria-label": "Remove the last token",
      title: "Remove the last token",
      onclick: () => offer(joined(viewOf().labels.slice(0, -1))),
    },
    "⌫",
  );
  const root = h(
    "div",
    { class: "input-rule" },
    field,
    h("div", { class: "tokens", role: "group", "aria-label": "Tokens to append" }, palette, back),
  );
  return { root, inputs: [field], text: () => field.value, show: (view) => (field.value = view.state.input) };
}

/** @param {string[]} labels */
function joined(labels) {
  return labels.join(" ");
}

/** @param {Payload} payload @param {(text: string) => void} offer @returns {HTMLInputElement} */
function ruleField(payload, offer) {
  const field = h("input", {
    type: "text",
    id: "input-text",
    class: "field",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "Input",
    "aria-describedby": "input-error",
    title: `1 to ${payload.model.context} tokens, separated by spaces`,
  });
  field.addEventListener("input", () => offer(field.value));
  field.addEventListener("keydown", (event) => event.key === "Enter" && offer(field.value));
  return field;
}

/** @param {Payload} payload @param {(label: string) => void} append */
function rulePalette(payload, append) {
  return payload.tokens.map((/** @type {Token} */ token) =>
    h(
      "button",
      {
        type: "button",
        class: "token small",
        style: `background:${token.colour};color:${token.ink}`,
        "aria-label": `Append ${token.label}`,
        onclick: () => append(token.label),
      },
      token.label,
    ),
  );
}

/**
 * The tokens read, each removed by a click, and the next token with its probability.
 * @param {View} view @param {(text: string) => void} offer
 */
export function ruleGlance(view, offer) {
  const { labels, payload, tokens } = view;
  const remove = (/** @type {number} */ place) =>
    offer(joined(view.now.labels.filter((_, i) => i !== place)));
  const cells = tokens.map((token, place) =>
    tokenCell(payload.tokens[token], `Remove ${labels[place]} at position ${place}`, () => remove(place)),
  );
  const last = tokens.length - 1;
  const found = view.answers[last];
  const next = payload.tokens[found.winner];
  const cell = tokenCell(next, `Append ${next.label}`, () => offer(joined([...view.now.labels, next.label])));
  cell.classList.add("next");
  return [
    h("span", { class: "cells", role: "group", "aria-label": "Tokens read: a click removes one" }, cells),
    h("span", { class: "leads", "aria-hidden": "true" }, "→"),
    cell,
    h(
      "span",
      { class: "answer-words" },
      percent(probabilityAt(view, found.winner, last)),
      " ",
      verdictWords(view, found),
    ),
  ];
}

/** @param {View} view @param {number} token @param {number} place */
function probabilityAt(view, token, place) {
  const [, places] = view.probabilities.shape;
  return view.probabilities.data[token * places + place];
}

/** @param {Token} token @param {string} title @param {() => void} act */
function tokenCell(token, title, act) {
  const style = `background:${token.colour};color:${token.ink}`;
  return h(
    "button",
    { type: "button", class: "token", style, title, "aria-label": title, onclick: act },
    token.label,
  );
}

/** @param {View} view @param {import("../judge.js").RuleAnswer} found */
function verdictWords(view, found) {
  const more = h("span", { class: "more" }, ` · ${view.marginWords(found.margin)}`);
  if (!found.demand) return h("span", { class: "muted" }, "nothing demanded", more);
  const names = found.allowed.map((token) => view.payload.tokens[token].label);
  const wanted = names.length > 4 ? `one of ${names.length} tokens` : names.join(" or ");
  if (found.right) return h("span", { class: "good" }, "✓ right", more);
  const why = found.allowed.includes(found.winner)
    ? "a token that is not allowed is as likely"
    : `must be ${wanted}`;
  return h("span", { class: "bad" }, `✗ wrong: ${why}`, more);
}
