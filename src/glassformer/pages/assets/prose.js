// Sentences of the payload: what stands in backticks there is code here.

import { h } from "./dom.js";
import { raised } from "./numbers.js";

/** "After `+` comes 4" as texts and <code>. @param {string} text @returns {Array<string|Element>} */
export function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : powers(part)));
}

/** 10^20 as 10²⁰, 7^30 as 7³⁰. @param {string} text */
export function powers(text) {
  return text.replace(/\b(\d+)\^(\d+)/g, (_, base, power) => `${base}${raised(Number(power))}`);
}

const QUOTED = 40; // letters of a text that is refused

/** A text in an error, cut where it is long. @param {string} text */
export function quoted(text) {
  const letters = [...text.slice(0, 2 * QUOTED)];
  const cut = text.length > 2 * QUOTED || letters.length > QUOTED;
  return `“${letters.slice(0, QUOTED).join("")}${cut ? "…" : ""}”`;
}
