// What rules and questions share: tokens are read as they are, and the demand is known at every position.

import { h } from "../dom.js";
import { short } from "../numbers.js";
import { runOn } from "../pass.js";
import { contextJudge } from "../testset.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Example} Example */

/** The part of a family that both have. */
export const stringsFamily = {
  first: [],
  narrow: [],
  rowWords: "each position",
  afterWords: "each position",
  rowChoices: null,
  noMargin: "none",
  judge: contextJudge,
  /**
   * @param {import("../types.js").Payload} payload @param {Object<string, import("../types.js").Tensor>} params
   * @param {number[]} tokens
   */
  run: (payload, params, tokens) => ({ tokens, run: runOn(payload, params, tokens), written: [] }),
  /** @param {View} view */
  answer: (view) => view.answers[view.answers.length - 1],
  /** @param {View} view */
  cursor: (view) => view.tokens.length - 1,
  /** @param {View} view */
  labels: (view) => view.tokens.map((token) => view.payload.tokens[token].label),
  /** @param {View} view @param {number} place @returns {import("../types.js").Verdict} */
  verdict(view, place) {
    const { demand, allowed, winner, right, margin } = view.answers[place];
    return { allowed: demand ? allowed : null, winner, right, margin };
  },
  /** @param {import("../types.js").Payload} _ @param {number} place */
  placeName: (_, place) => `p${place}`,
  /** @param {View} view */
  toldPlaces: (view) => view.tokens.map((_, place) => place),
  /** @param {import("../types.js").Payload} payload */
  title: (payload) => payload.task.about,
  /** @param {Example} example */
  exampleWords: (example) => example.input,
  /** @param {import("../types.js").ProofData} proof */
  hasCertificate: (proof) => proof.verdict === "refuted",
  /** @param {string} name */
  panelOf: (name) => (/(^|\.)(logits|final)$/.test(name) ? "prediction" : "geometry"),
  /** @param {View} view */
  changeWords(view) {
    const { winner, right, margin } = view.answers[view.place];
    return [
      `next token ${view.payload.tokens[winner].label}, `,
      right === null ? h("span", { class: "muted" }, "nothing is demanded") : rightWord(right),
      `, margin ${short(margin)}`,
    ];
  },
};

/** @param {boolean} right */
export function rightWord(right) {
  return h("span", { class: right ? "good" : "bad" }, right ? "right" : "✗ wrong");
}

/**
 * The words of a text, with marks as words of their own: "100 20=" is 100, 20 and =.
 * @param {string} text @param {string[]} marks
 */
export function splitWords(text, marks) {
  const apart = marks.reduce((rest, mark) => rest.replaceAll(mark, ` ${mark} `), text);
  return apart.split(/[\s,]+/).filter((word) => word !== "");
}
