// Geometry: the forward pass over the input as points and arrows, one picture per stage.

import { h, s } from "../dom.js";
import { plot, svgRoot } from "../chart.js";
import { short } from "../numbers.js";
import { headOf, queryKeyPicture, valuePicture } from "./geometry_heads.js";
import { domainsOf, isDrawn } from "./geometry_plane.js";
import { hingePicture, streamPicture, streamSteps } from "./geometry_stream.js";
import { embeddingPicture } from "./geometry_tokens.js";
import { attentiveLayers, chosenHead, chosenLayer, spotName } from "./places.js";

/** @typedef {import("../view.js").View} View */

/**
 * One picture: its plane, what must be inside, and how it is painted; `words` and `rows` say the same without
 * it.
 * @typedef {{id: string, title: string, subtitle: string, plane: import("./geometry_plane.js").Plane, spots:
 *   number[][], room?: number, paint: (chart: import("../chart.js").Plot) => void, note: string, words:
 *   string, rows: () => Array<Array<string|number|null>>}} Picture
 */

const COLUMNS = ["picture", "item", "token", "place", "dimension or unit", "value"];
const HEADING = 44; // pixels: a picture's title and what its marks mean
const GAP = 28; // pixels between pictures
const AUTO = "largest variance";

/** @type {import("../types.js").Panel<View>} */
export const geometryPanel = {
  id: "geometry",
  title: "Geometry",
  wide: true,
  about: (view) =>
    `How ${spotName(view, view.place)} becomes a prediction: ` +
    "each stage of the forward pass as points and arrows. Click a dot to move the cursor there.",
  draw(view, width) {
    const pictures = picturesOf(view);
    return {
      node: pictureSheet(view, pictures, width),
      alt: `Geometry at ${spotName(view, view.place)}: ${pictures
        .map((picture) => picture.words)
        .filter(Boolean)
        .join("; ")}.`,
      get table() {
        return { columns: COLUMNS, rows: pictures.flatMap((picture) => picture.rows()) };
      },
      note: pictures
        .map((picture) => picture.note)
        .filter(Boolean)
        .join(" "),
      controls: geometryControls(view, pictures),
      isRough: view.isMoving,
    };
  },
};

/** @param {View} view @returns {Picture[]} */
function picturesOf(view) {
  const head = headOf(view);
  const steps = streamSteps(view);
  const all = [
    embeddingPicture(view),
    head && queryKeyPicture(view, head),
    head && valuePicture(view, head),
    hingePicture(view, steps),
    streamPicture(view, steps),
  ];
  return all.filter((picture) => picture !== null);
}

/**
 * Pictures in rows: three and two where there is room, one under the other on a phone.
 * @param {View} view @param {Picture[]} pictures @param {number} width
 */
function pictureSheet(view, pictures, width) {
  const most = width >= 1000 ? 3 : width >= 600 ? 2 : 1;
  const first =
    pictures.length > most
      ? pictures.length - most * (Math.ceil(pictures.length / most) - 1)
      : pictures.length;
  const rows =
    most === 3 && pictures.length === 5
      ? [pictures.slice(0, 3), pictures.slice(3)]
      : rowsOfPictures(pictures, most, first);
  const groups = [];
  let top = 0;
  for (const row of rows) {
    const wide = (width - GAP * (row.length - 1)) / row.length;
    const high = Math.min(wide * 0.92, row.length === 2 ? 470 : 400) + HEADING;
    groups.push(...row.map((picture, i) => pictureGroup(view, picture, i * (wide + GAP), top, wide, high)));
    top += high + 18;
  }
  return svgRoot(width, top - 18, view.colours, groups);
}

/** @param {Picture[]} pictures @param {number} most @param {number} first */
function rowsOfPictures(pictures, most, first) {
  const rows = [pictures.slice(0, first)];
  for (let at = first; at < pictures.length; at += most) rows.push(pictures.slice(at, at + most));
  return rows;
}

/**
 * @param {View} view @param {Picture} picture @param {number} x @param {number} y @param {number} width
 * @param {number} height
 */
function pictureGroup(view, picture, x, y, width, height) {
  const { colours } = view;
  const title = s("text", { x: 2, y: 15, "font-size": 14, "font-weight": 600 }, picture.title);
  const lines = wrappedText(picture.subtitle, width).map((line, i) =>
    s("text", { x: 2, y: 32 + 14 * i, "font-size": 11.5, fill: colours.muted }, line),
  );
  const group = s("g", { transform: `translate(${x} ${y})`, "data-picture": picture.id }, title, lines);
  if (!picture.spots.some(isDrawn)) {
    group.append(
      s("text", { x: 2, y: HEADING + 30, fill: colours.muted }, "There are no finite numbers to show here."),
    );
    return group;
  }
  const { x: across, y: up } = domainsOf(picture.spots, picture.room ?? 0.1);
  const [left, below] = picture.plane.labels;
  const chart = plot({
    width,
    height: height - HEADING - 8,
    x: { domain: across, label: left, ticks: Math.round(width / 60), format: tickWords },
    y: { domain: up, label: below, format: tickWords },
    equal: !picture.plane.isLine,
    colours,
  });
  picture.paint(chart);
  chart.root.removeAttribute("role");
  chart.root.setAttribute("y", String(HEADING + (lines.length > 1 ? 8 : 0)));
  group.append(chart.root);
  return group;
}

/** A tick without trailing zeros: 2e−5. @param {number} value */
function tickWords(value) {
  return short(value, 6).replace(/\.?0+e/, "e");
}

/** Lines of a text that are not wider than so many pixels. @param {string} text @param {number} width */
export function wrappedText(text, width) {
  const most = Math.floor(width / 5.9);
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (longer.length > most && lines[lines.length - 1]) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** @param {View} view @param {Picture[]} pictures */
function geometryControls(view, pictures) {
  const heads = pictures.find((picture) => picture.id === "queries and keys")?.plane;
  const stream = pictures[pictures.length - 1].plane;
  return [
    ...headChoosers(view),
    ...(stream.width > 2 ? dimensionChoosers(view, "dims", "stream", stream) : []),
    ...(heads && heads.width > 2 ? dimensionChoosers(view, "headDims", "head", heads) : []),
  ];
}

/** Layer and head, where there is more than one. @param {View} view */
export function headChoosers(view) {
  const layer = chosenLayer(view);
  const able = attentiveLayers(view);
  if (layer === null) return [];
  const heads = view.payload.model.layers[layer].heads;
  return [
    able.length > 1 &&
      chooser("layer", able, layer, (value) => view.change({ layer: Number(value), head: 0 })),
    heads > 1 &&
      chooser(
        "head",
        Array.from({ length: heads }, (_, i) => i),
        chosenHead(view, layer),
        (value) => view.change({ head: Number(value), layer }),
      ),
  ].filter((control) => control !== false);
}

/**
 * @param {string} name @param {Array<number|string>} values @param {number|string} chosen
 * @param {(value: string) => void} choose @param {string} [words] shorter than the name
 */
function chooser(name, values, chosen, choose, words = name) {
  const options = values.map((value) => h("option", { value, selected: value === chosen }, value));
  const onchange = (/** @type {Event} */ event) =>
    choose(/** @type {HTMLSelectElement} */ (event.target).value);
  return h(
    "label",
    { class: "control" },
    `${words} `,
    h("select", { onchange, "data-key": `choose-${name}`, "aria-label": name }, options),
  );
}

/**
 * Two dimensions of more; each picture shows those of the largest variance until they are chosen.
 * @param {View} view @param {"dims"|"headDims"} key @param {string} name
 * @param {import("./geometry_plane.js").Plane} plane
 */
function dimensionChoosers(view, key, name, { width, dims }) {
  const all = Array.from({ length: width }, (_, dim) => dim);
  const wished = view.state[key];
  return [0, 1].map((axis) => {
    const choose = (/** @type {string} */ value) => {
      const pair = [...(wished ?? dims)];
      if (Number(value) === pair[1 - axis]) pair.reverse();
      pair[axis] = Number(value);
      view.change({ [key]: value === AUTO ? null : pair });
    };
    return chooser(
      `${name} dimension along ${"xy"[axis]}`,
      [AUTO, ...all],
      wished ? wished[axis] : AUTO,
      choose,
      axis ? "y" : `${name} x`,
    );
  });
}
