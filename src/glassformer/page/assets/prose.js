// Sentences of the payload: what stands in backticks there is code here.

import { h } from "./dom.js";

/** "After `+` comes 4" as texts and <code>. @param {string} text @returns {Array<string|Element>} */
export function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}
