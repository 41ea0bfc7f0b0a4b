// A page of the kit alone, with made-up numbers: what the tests of the kit open.

import { pathOf, plot } from "./chart.js";
import { contrast, inkOn, mix } from "./colour.js";
import { byId, h, s } from "./dom.js";
import { binned, histogram } from "./histogram.js";
import { arrow, label, spread } from "./marks.js";
import { matrix } from "./matrix.js";
import { csvText, jsonText } from "./export.js";
import { mountPanels } from "./panel.js";
import { createStore } from "./store.js";
import { applyTheme, coloursInForce, followTheme } from "./theme.js";
import { extent, logTicks, niceTicks } from "./ticks.js";
import { tip } from "./tip.js";

/** @typedef {{theme: "light"|"dark"|null, panel: string|null, step: number, broken: boolean}} KitState */
/** @typedef {import("./types.js").Panel<ReturnType<typeof viewOf>>} KitPanel */

/** @type {{name: string, colours: import("./theme.js").Themes, tokens: import("./types.js").Token[]}} */
const payload = JSON.parse(/** @type {string} */ (byId("payload").textContent));
/** @type {KitState} */
const first = { theme: null, panel: null, step: 3, broken: true };
const store = createStore(first, (wish) => (wish.theme ? { theme: wish.theme } : {}));
const viewOf = () => ({ payload, state: store.get(), colours: coloursInForce(payload.colours, store.get()) });
const names = Array.from({ length: 20 }, (_, i) => String(i));
const tints = payload.tokens;

/** @type {KitPanel} */
const curves = {
  id: "curves",
  title: "Loss over training",
  about: () => "Made-up numbers; the cursor stands at the step.",
  draw({ colours, state }, width) {
    const rows = Array.from({ length: 60 }, (_, i) => [i * 50 + 1, 3 * Math.exp(-i / 9) + 0.001]);
    const chart = plot({
      width,
      height: 260,
      x: { domain: [0, 3000], label: "step" },
      y: { domain: [1e-3, 4], label: "loss", log: true },
      colours,
    });
    chart.clipped.append(
      s("path", {
        d: pathOf(rows, chart.X, chart.Y),
        fill: "none",
        stroke: colours.accent,
        "stroke-width": 2,
      }),
    );
    const at = rows[state.step];
    const cursor = s("circle", {
      cx: chart.X(at[0]),
      cy: chart.Y(at[1]),
      r: 6,
      fill: colours.accent,
      id: "cursor",
    });
    chart.layer.append(tip(cursor, () => [h("strong", {}, `step ${at[0]}`), h("div", {}, `loss ${at[1]}`)]));
    return {
      node: chart.root,
      alt: `Loss falls to ${rows[rows.length - 1][1]}`,
      table: { columns: ["step", 'loss, "train"'], rows },
    };
  },
};

/** @type {KitPanel} */
const plane = {
  id: "plane",
  title: "Embeddings in the plane",
  about: () => "Arrows and labels that make room for each other.",
  draw({ colours }, width) {
    const points = names
      .slice(0, 12)
      .map((name, i) => ({ name, x: Math.cos(i * 2.4) * (1 + i / 8), y: Math.sin(i * 2.4) * (1 + i / 8) }));
    const chart = plot({
      width,
      height: 360,
      x: { domain: [-2.6, 2.6], label: "dimension 1" },
      y: { domain: [-2.4, 2.4], label: "dimension 2" },
      equal: true,
      colours,
    });
    chart.clipped.append(
      s("line", {
        x1: chart.X(-9),
        y1: chart.Y(-4),
        x2: chart.X(9),
        y2: chart.Y(5),
        stroke: colours.muted,
        "stroke-dasharray": "4 4",
      }),
    );
    chart.layer.append(
      arrow(chart.X(0), chart.Y(0), chart.X(1.3), chart.Y(-1.1), colours.accent),
      arrow(chart.X(1.3), chart.Y(-1.1), chart.X(2), chart.Y(0.4), colours.good),
    );
    for (const { x, y, name } of points)
      chart.layer.append(
        s("circle", { cx: chart.X(x), cy: chart.Y(y), r: 5, fill: tints[Number(name)].colour }),
      );
    const placed = spread(
      points.map(({ x, y, name }) => ({ x: chart.X(x), y: chart.Y(y), text: `e(${name})` })),
      { box: chart.box },
    );
    for (const { x, y, text, anchor } of placed) chart.layer.append(label(x, y, text, { colours, anchor }));
    return {
      node: chart.root,
      alt: "Twelve points on a spiral",
      table: { columns: ["token", "x", "y"], rows: points.map(({ name, x, y }) => [name, x, y]) },
    };
  },
};

/**
 * @param {string} id @param {string} title @param {number} count @param {"share"|"signed"} kind
 * @returns {KitPanel}
 */
function grid(id, title, count, kind) {
  const value = (/** @type {number} */ i, /** @type {number} */ j) =>
    kind === "share" ? Math.exp(-Math.abs(i - j)) / 2 : Math.sin(i * 3 + j) * 4;
  const values = names.slice(0, count).map((_, i) => names.slice(0, count).map((_, j) => value(i, j)));
  return {
    id,
    title,
    about: () => "One tab stop; the arrow keys walk the cells.",
    draw({ colours }, width) {
      const labels = names.slice(0, count);
      const shades = labels.map((_, i) => tints[i].colour);
      const made = matrix({
        width,
        rows: labels,
        columns: labels,
        values,
        kind,
        colours,
        rowColours: shades,
        columnColours: shades,
        rowTitle: "from",
        columnTitle: "to",
        mask: kind === "share" ? (i, j) => j > i : undefined,
        title: (i, j) => `from ${i} to ${j}: ${values[i][j]}`,
      });
      return {
        node: made.root,
        alt: `${count} by ${count}`,
        table: { columns: labels, rows: values },
        note: "The numbers are made up.",
      };
    },
  };
}

/** @type {KitPanel} */
const bars = {
  id: "bars",
  title: "Margins",
  wide: true,
  about: () => "How far from wrong.",
  draw({ colours }, width) {
    const values = Array.from({ length: 500 }, (_, i) => Math.sin(i) * 2 + Math.cos(i * i) + 1);
    const chart = histogram({
      width,
      height: 220,
      values,
      label: "margin",
      colours,
      colourOf: (middle) => (middle > 0 ? colours.good : colours.bad),
    });
    return {
      node: chart.root,
      alt: "500 margins",
      table: { columns: ["margin"], rows: values.map((each) => [each]) },
    };
  },
};

/** @type {KitPanel} */
const pair = {
  id: "pair",
  title: "Two pictures and a table",
  about: () => "One card may hold several pictures.",
  draw({ colours, state }, width) {
    const half = Math.max(280, width / 2 - 20);
    const one = (/** @type {string} */ name) =>
      plot({ width: half, height: 160, x: { domain: [0, 1], label: name }, y: { domain: [0, 1] }, colours })
        .root;
    const steps = [1, 2, 3].map((step) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(step === state.step),
          "data-key": `step${step}`,
          onclick: () => store.set({ step }),
        },
        `step ${step}`,
      ),
    );
    return {
      node: h("div", { class: "columns" }, one("left"), one("right")),
      alt: "two empty plots",
      table: { columns: ["a"], rows: [[NaN], [null], [0.1 + 0.2]] },
      controls: [h("div", { class: "group" }, steps)],
    };
  },
};

const sheet = h(
  "div",
  { class: "table" },
  h(
    "table",
    {},
    h("tr", {}, h("th", {}, "name"), h("th", { class: "number" }, "value")),
    h("tr", { class: "pick chosen" }, h("td", {}, "attn.q"), h("td", { class: "number" }, "0.25")),
  ),
  h("input", { type: "range", "aria-label": "value", id: "slider" }),
);
const words = {
  id: "words",
  title: "A table alone",
  about: () => "It has no picture of its own; the same element is given again, so that its slider lives on.",
  draw: () => ({
    node: sheet,
    alt: "one parameter",
    table: { columns: ["name", "value"], rows: [["attn.q", 0.25]] },
  }),
};

const absent = {
  id: "absent",
  title: "Population",
  about: () => "",
  missing: () => "This run has no population: it trained one seed.",
  draw: () => words.draw(),
};
/** @type {KitPanel} */
const broken = {
  id: "broken",
  title: "A panel that throws",
  about: () => "",
  draw(view, width) {
    if (view.state.broken) throw new Error("no such intermediate");
    return curves.draw(view, width);
  },
};

followTheme(store, payload.colours);
applyTheme(viewOf().colours);
const panels = [
  curves,
  broken,
  plane,
  grid("small", "Attention weights", 8, "share"),
  grid("large", "Signed scores", 20, "signed"),
  absent,
  pair,
  words,
  bars,
];
Object.assign(window, {
  kit: {
    store,
    contrast,
    inkOn,
    mix,
    binned,
    extent,
    logTicks,
    niceTicks,
    csvText,
    jsonText,
    ...mountPanels(byId("panels"), panels, store, viewOf),
  },
});
byId("header").append(
  h(
    "div",
    { class: "top" },
    h("h1", {}, "plus_last_even"),
    h("span", { class: "badge proved" }, "✓ Proved on all 1,234 inputs"),
    h("span", { class: "badge refuted" }, "Refuted"),
    h("span", { class: "badge undecided" }, "Undecided"),
    h("div", { class: "tools" }, h("button", { class: "quiet" }, "Dark")),
  ),
  h(
    "p",
    { class: "sentence" },
    "After an even number, the next token is the last even number plus one; a model of 29 parameters follows the rule on every input.",
  ),
  h(
    "div",
    { class: "chips" },
    h("span", { class: "chip" }, "parameters ", h("strong", {}, "29")),
    h("span", { class: "chip" }, "accuracy ", h("strong", {}, "99.98%")),
  ),
);
byId("input").append(
  h(
    "div",
    { class: "line" },
    h(
      "div",
      { class: "tokens" },
      tints
        .slice(0, 8)
        .map((token) =>
          h(
            "button",
            { class: "token", style: `background:${token.colour};color:${token.ink}` },
            token.label,
          ),
        ),
    ),
    h("input", { class: "field", type: "text", value: "4 7 +", "aria-label": "input" }),
  ),
  h("p", { class: "error" }, "7 tokens at most; this has 9."),
);
byId("scrubber").append(
  h("button", { class: "play", "aria-label": "Play" }, "▶"),
  h("input", { type: "range", min: 0, max: 50, "aria-label": "checkpoint" }),
  h("span", { class: "readout" }, "step 2,300"),
);
byId("story").append(
  h(
    "div",
    { class: "card" },
    h("div", { class: "title" }, "A rule in two dimensions"),
    h("p", { class: "text" }, "Every token is a point of the plane. Watch where the last even number goes."),
    h(
      "div",
      { class: "foot" },
      h("button", { class: "primary" }, "Next"),
      h("button", {}, "Back"),
      h(
        "div",
        { class: "dots" },
        [0, 1, 2, 3].map((i) =>
          h("button", {
            class: "dot",
            "aria-label": `chapter ${i + 1}`,
            "aria-current": i === 1 ? "step" : null,
          }),
        ),
      ),
      h("button", { class: "quiet" }, "Close"),
    ),
  ),
);
