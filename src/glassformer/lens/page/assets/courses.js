// Each weight type over depth in one line: mean, thirds, trend and its test.

import { h } from "../../../pages/assets/dom.js";
import { short } from "../../../pages/assets/numbers.js";
import { weightKey } from "./data.js";

/** @typedef {import("./types.js").SpectraView} View */
/** @typedef {import("./types.js").ShownCourse} ShownCourse */
/** @typedef {import("./types.js").Said} Said */

/** @param {View} view @param {ShownCourse[]} courses */
export function coursesTable(view, courses) {
  const many = view.models.length > 1;
  const titles = ["type", ...(many ? ["model"] : []), "shape", "mean", "early", "middle", "late", "trend"];
  const head = h(
    "tr",
    {},
    titles.map((title) => h("th", { scope: "col", class: isNumberTitle(title) ? "number" : null }, title)),
  );
  const ordered = many
    ? [...courses].sort(
        (a, b) =>
          courseNames(courses).indexOf(a.name) - courseNames(courses).indexOf(b.name) || a.which - b.which,
      )
    : courses;
  const body = ordered.map((one) => courseRow(view, one, many));
  return h(
    "div",
    { class: "table courses", tabindex: 0, role: "region", "aria-label": "Weight types over depth" },
    h("table", {}, h("thead", {}, head), h("tbody", {}, body)),
  );
}

/** In the order of the first model. @param {ShownCourse[]} courses */
function courseNames(courses) {
  return courses.map((one) => one.name);
}

/** @param {string} title */
function isNumberTitle(title) {
  return ["mean", "early", "middle", "late"].includes(title);
}

/** @param {View} view @param {ShownCourse} one @param {boolean} many */
function courseRow(view, one, many) {
  const said = one.said[view.state.measure];
  const phases = said?.phases ?? {};
  const numbers = [said?.mean, phases.early, phases.middle, phases.late].map((value) =>
    h("td", { class: "number" }, value === undefined || value === null ? "–" : short(value)),
  );
  const choose = () => view.set({ weight: weightKey(one.model.weights, one.rows[0][0]) });
  const name = h(
    "button",
    {
      type: "button",
      class: "link",
      "data-key": `course ${one.which} ${one.name}`,
      "aria-pressed": String(one.isChosen),
      onclick: choose,
    },
    one.name,
  );
  const swatch = h("span", { class: "swatch", style: `background: ${one.colour}`, "aria-hidden": "true" });
  return h(
    "tr",
    { class: one.isChosen ? "chosen" : null },
    h("td", {}, swatch, name),
    many ? h("td", {}, one.model.name) : null,
    h("td", {}, one.shape.replace("x", " × ")),
    numbers,
    h("td", {}, trendWords(said)),
  );
}

/** @param {Said|undefined} said */
function trendWords(said) {
  if (!said) return h("span", { class: "muted" }, "not known for every layer");
  const isSure = said.trend.tested !== "none" && said.trend.tested !== "too few layers";
  return h("span", { class: isSure ? "good" : "muted" }, said.words);
}
