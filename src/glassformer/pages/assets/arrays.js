// Arithmetic on whole arrays as NumPy has it: sizes of 1 are stretched, views start and stride, parts are
// joined. Axes that lie together in memory are walked as one, so that the inner loops are long.

/** @typedef {import("./types.js").Tensor} Tensor */
/** @typedef {(out: Float64Array, o: number, a: Float64Array, i: number, p: number, b: Float64Array, j: number,
 *   q: number, count: number) => void} PairRun  a stretch of `count` numbers, read in strides p and q */

/** @type {Object<string, PairRun>} */
export const PAIR_RUNS = {
  add(out, o, a, i, p, b, j, q, count) {
    for (let n = 0; n < count; n++) out[o + n] = a[i + n * p] + b[j + n * q];
  },
  sub(out, o, a, i, p, b, j, q, count) {
    for (let n = 0; n < count; n++) out[o + n] = a[i + n * p] - b[j + n * q];
  },
  mul(out, o, a, i, p, b, j, q, count) {
    for (let n = 0; n < count; n++) out[o + n] = a[i + n * p] * b[j + n * q];
  },
  div(out, o, a, i, p, b, j, q, count) {
    for (let n = 0; n < count; n++) out[o + n] = a[i + n * p] / b[j + n * q];
  },
};

/**
 * Two arrays, element by element.
 * @param {PairRun} run @param {Tensor} a @param {Tensor} b @param {number[]} shape @returns {Tensor}
 */
export function pairedBy(run, a, b, shape) {
  const data = new Float64Array(sizeOf(shape));
  const walk = walkOf(shape, [stretchedStrides(a.shape, shape), stretchedStrides(b.shape, shape)]);
  const [first, second] = walk.strides.map((strides) => walkOffsets(walk.sizes, strides));
  const [p, q] = walk.inner;
  for (let row = 0; row < first.length; row++) {
    run(data, row * walk.count, a.data, first[row], p, b.data, second[row], q, walk.count);
  }
  return { shape, data };
}

/**
 * Part of an array, with other axes: option.axes names the source's axis of each (-1: a new one).
 * @param {Tensor} source @param {{axes: number[], start: number[], step: number[]}} option
 * @param {number[]} shape @returns {Tensor}
 */
export function viewedAs(source, option, shape) {
  const strides = stridesOf(source.shape);
  const begin = option.start.reduce((sum, start, axis) => sum + start * strides[axis], 0);
  const walk = walkOf(shape, [option.axes.map((axis) => (axis < 0 ? 0 : strides[axis] * option.step[axis]))]);
  const rows = walkOffsets(walk.sizes, walk.strides[0]);
  const [stride] = walk.inner;
  if (rows.length === 1 && (stride === 1 || walk.count === 1)) {
    return { shape, data: source.data.subarray(begin, begin + walk.count) };
  }
  const data = new Float64Array(sizeOf(shape));
  for (let row = 0, at = 0; row < rows.length; row++) {
    for (let n = 0; n < walk.count; n++) data[at++] = source.data[begin + rows[row] + n * stride];
  }
  return { shape, data };
}

/**
 * Arrays one after the other along an axis.
 * @param {Tensor[]} values @param {number} axis @param {number[]} shape @returns {Tensor}
 */
export function joinedArrays(values, axis, shape) {
  const data = new Float64Array(sizeOf(shape));
  const before = sizeOf(shape.slice(0, axis));
  const after = sizeOf(shape.slice(axis));
  let begin = 0;
  for (const value of values) {
    const length = sizeOf(value.shape.slice(axis));
    for (let n = 0; n < before; n++)
      data.set(value.data.subarray(n * length, (n + 1) * length), n * after + begin);
    begin += length;
  }
  return { shape, data };
}

/**
 * The sum over an axis, first to last.
 * @param {Tensor} x @param {number} axis @param {number[]} shape @returns {Tensor}
 */
export function summedOver(x, axis, shape) {
  const data = new Float64Array(sizeOf(shape));
  const after = sizeOf(x.shape.slice(axis + 1));
  const count = x.shape[axis];
  for (let n = 0; n < data.length; n++) {
    const begin = Math.floor(n / after) * after * count + (n % after);
    let total = x.data[begin];
    for (let k = 1; k < count; k++) total += x.data[begin + k * after];
    data[n] = total;
  }
  return { shape, data };
}

/** How many numbers a shape holds. @param {number[]} shape */
export function sizeOf(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

/** @param {number[]} shape */
function stridesOf(shape) {
  const strides = new Array(shape.length);
  for (let axis = shape.length - 1, stride = 1; axis >= 0; stride *= shape[axis--]) strides[axis] = stride;
  return strides;
}

/**
 * Strides of a small shape within a larger one; 0 where it is stretched.
 * @param {number[]} small @param {number[]} shape
 */
function stretchedStrides(small, shape) {
  const strides = stridesOf(small);
  const missing = shape.length - small.length;
  return shape.map((_, axis) =>
    axis < missing || small[axis - missing] === 1 ? 0 : strides[axis - missing],
  );
}

/**
 * The same walk with as few axes as it takes: the last as `count` and `inner` strides, the others as they are.
 * @param {number[]} shape @param {number[][]} strides
 */
function walkOf(shape, strides) {
  /** @type {Array<{size: number, strides: number[]}>} */
  const axes = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] === 1) continue;
    const here = strides.map((one) => one[axis]);
    const last = axes.at(-1);
    if (last && here.every((stride, n) => stride === last.strides[n] * last.size)) last.size *= shape[axis];
    else axes.push({ size: shape[axis], strides: here });
  }
  const [innermost = { size: 1, strides: strides.map(() => 0) }, ...others] = axes;
  others.reverse();
  const sizes = others.map((axis) => axis.size);
  const outer = strides.map((_, n) => others.map((axis) => axis.strides[n]));
  return { count: innermost.size, inner: innermost.strides, sizes, strides: outer };
}

/** Where every stretch begins. @param {number[]} sizes @param {number[]} strides */
function walkOffsets(sizes, strides) {
  let found = [0];
  for (let axis = 0; axis < sizes.length; axis++) {
    const next = [];
    for (const begin of found) for (let n = 0; n < sizes[axis]; n++) next.push(begin + n * strides[axis]);
    found = next;
  }
  return found;
}
