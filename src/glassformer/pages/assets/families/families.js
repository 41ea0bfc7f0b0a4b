// A page by family of tasks: `familyOf(payload)` has all that differs between them.

import { additionFamily } from "./addition.js";
import { questionFamily } from "./question.js";
import { ruleFamily } from "./rule.js";

/** @typedef {import("../types.js").Family} Family */

/** @type {Object<string, Family>} */
const FAMILIES = { rule: ruleFamily, question: questionFamily, addition: additionFamily };

/** @param {{family: string}} payload @returns {Family} */
export function familyOf(payload) {
  return FAMILIES[payload.family];
}
