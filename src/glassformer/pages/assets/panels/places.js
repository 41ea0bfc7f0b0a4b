// Names of positions, heads and layers, for all panels.

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Tensor} Tensor */

/**
 * p4 of a rule's context, x3 (thousands of the first number) of an addition.
 * @param {View} view @param {number} place
 */
export function placeName(view, place) {
  return view.family.placeName(view.payload, place);
}

/**
 * The token and its position, as "6@p4"; a mark of an addition is named once.
 * @param {View} view @param {number} place
 */
export function spotName(view, place) {
  const [read, where] = [view.labels[place], placeName(view, place)];
  return read === where ? read : `${read}@${where}`;
}

/** @param {View} view @param {number} token */
export function tokenLabel(view, token) {
  return view.payload.tokens[token]?.label ?? `<${token}>`;
}

/** The colour of a token and the ink that is readable on it. @param {View} view @param {number} token */
export function tokenPaint(view, token) {
  return (
    view.payload.tokens[token] ?? { label: `<${token}>`, colour: view.colours.muted, ink: view.colours.paper }
  );
}

/** The numbers of the layers that have attention. @param {View} view */
export function attentiveLayers(view) {
  return view.payload.model.layers.flatMap((layer, index) => (layer.attention ? [index] : []));
}

/** The selected layer, or the last one with attention; null where no layer has any. @param {View} view */
export function chosenLayer(view) {
  const able = attentiveLayers(view);
  return able.includes(view.state.layer) ? view.state.layer : able.length ? able[able.length - 1] : null;
}

/** The selected head of a layer, as far as it has that many. @param {View} view @param {number} layer */
export function chosenHead(view, layer) {
  return Math.max(0, Math.min(view.state.head, view.payload.model.layers[layer].heads - 1));
}

/** Row i of a matrix. @param {Tensor} tensor @param {number} row @returns {number[]} */
export function tensorRow(tensor, row) {
  const width = tensor.shape[1];
  return Array.from(tensor.data.subarray(row * width, (row + 1) * width));
}
