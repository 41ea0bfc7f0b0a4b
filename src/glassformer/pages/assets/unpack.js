// Arrays as Python packs them: base64 of little-endian numbers. Every number is exact in float64.

/** @typedef {import("./types.js").Tensor} Tensor */

const READERS = {
  float64: [8, DataView.prototype.getFloat64],
  float32: [4, DataView.prototype.getFloat32],
  int32: [4, DataView.prototype.getInt32],
  uint8: [1, DataView.prototype.getUint8],
};

/** @param {import("./types.js").Packed} packed @returns {Tensor} */
export function unpack(packed) {
  const text = atob(packed.data);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const [width, read] = /** @type {[number, Function]} */ (READERS[packed.dtype]);
  const view = new DataView(bytes.buffer);
  const data = new Float64Array(bytes.length / width);
  for (let n = 0; n < data.length; n++) data[n] = read.call(view, n * width, true);
  return { shape: packed.shape, data };
}

/**
 * One row of the first axis, without a copy.
 * @param {Tensor} tensor @param {number} index @returns {Tensor}
 */
export function rowOf(tensor, index) {
  const shape = tensor.shape.slice(1);
  const size = shape.reduce((product, one) => product * one, 1);
  return { shape, data: tensor.data.subarray(index * size, (index + 1) * size) };
}
