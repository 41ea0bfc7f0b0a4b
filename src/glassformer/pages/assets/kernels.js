// The sums of products that a forward pass is made of, first term to last, with the batch in the inner loop.
// Axes: `dim pos batch`; scores and weights `query key batch`. A batch of 1 is shared by all sequences.

/** @typedef {import("./types.js").Tensor} Tensor */

/**
 * `out dim` times `dim ...` gives `out ...`, plus the bias of each output.
 * @param {Tensor} weight @param {Tensor} x @param {Tensor|undefined} bias @param {number[]} shape
 * @returns {Tensor}
 */
export function linearOf(weight, x, bias, shape) {
  const [outs, dims] = weight.shape;
  const count = x.data.length / dims;
  const data = new Float64Array(outs * count);
  for (let out = 0; out < outs; out++) {
    const row = data.subarray(out * count, (out + 1) * count);
    addProducts(row, weight.data, out * dims, dims, x.data);
    if (bias) for (let n = 0, more = bias.data[out]; n < count; n++) row[n] += more;
  }
  return { shape, data };
}

/**
 * row = w0 x0 + w1 x1 + ...: three terms at a time, added in order.
 * @param {Float64Array} row @param {Float64Array} w @param {number} at @param {number} dims
 * @param {Float64Array} x
 */
function addProducts(row, w, at, dims, x) {
  const count = row.length;
  const first = w[at],
    second = w[at + 1];
  if (dims === 1) for (let n = 0; n < count; n++) row[n] = first * x[n];
  else for (let n = 0, i = count; n < count; n++, i++) row[n] = first * x[n] + second * x[i];
  let dim = 2;
  for (; dim + 2 < dims; dim += 3) {
    const a = w[at + dim],
      b = w[at + dim + 1],
      c = w[at + dim + 2];
    const i = dim * count,
      j = i + count,
      k = j + count;
    for (let n = 0; n < count; n++) row[n] = row[n] + a * x[i + n] + b * x[j + n] + c * x[k + n];
  }
  for (; dim < dims; dim++) {
    const a = w[at + dim];
    for (let n = 0, i = dim * count; n < count; n++, i++) row[n] += a * x[i];
  }
}

/**
 * Products of queries and keys.
 * @param {Tensor} queries @param {Tensor} keys @param {number[]} shape @returns {Tensor}
 */
export function scoresOf(queries, keys, shape) {
  const [asking, answering, batch] = shape;
  const data = new Float64Array(asking * answering * batch);
  const [dims, , own] = queries.shape;
  const other = keys.shape[2];
  const p = own === 1 ? 0 : 1,
    q = other === 1 ? 0 : 1;
  for (let query = 0, at = 0; query < asking; query++) {
    for (let key = 0; key < answering; key++, at += batch) {
      for (let dim = 0; dim < dims; dim++) {
        const i = (dim * asking + query) * own,
          j = (dim * answering + key) * other;
        addProduct(data, at, queries.data, i, p, keys.data, j, q, batch);
      }
    }
  }
  return { shape, data };
}

/**
 * Values of the keys, weighted.
 * @param {Tensor} weights @param {Tensor} values @param {number[]} shape @returns {Tensor}
 */
export function mixOf(weights, values, shape) {
  const [dims, asking, batch] = shape;
  const data = new Float64Array(dims * asking * batch);
  const [, answering, own] = weights.shape;
  const other = values.shape[2];
  const p = own === 1 ? 0 : 1,
    q = other === 1 ? 0 : 1;
  for (let dim = 0, at = 0; dim < dims; dim++) {
    for (let query = 0; query < asking; query++, at += batch) {
      for (let key = 0; key < answering; key++) {
        const i = (query * answering + key) * own,
          j = (dim * answering + key) * other;
        if (p === 0 && weights.data[i] === 0) continue; // a later position: nothing to add
        addProduct(data, at, weights.data, i, p, values.data, j, q, batch);
      }
    }
  }
  return { shape, data };
}

/**
 * Adds a stretch of products of two arrays; a stride of 0 repeats one number.
 * @param {Float64Array} out @param {number} at @param {Float64Array} a @param {number} i @param {number} p
 * @param {Float64Array} b @param {number} j @param {number} q @param {number} count
 */
function addProduct(out, at, a, i, p, b, j, q, count) {
  if (p === 1 && q === 1) for (let n = 0; n < count; n++) out[at + n] += a[i + n] * b[j + n];
  else for (let n = 0; n < count; n++) out[at + n] += a[i + n * p] * b[j + n * q];
}

/**
 * Shares over the keys; `extra` joins the denominator (softmax1: 1).
 * @param {Tensor} x @param {number} extra @returns {Tensor}
 */
export function softmaxOf(x, extra) {
  const [asking, answering, batch] = x.shape;
  const data = new Float64Array(x.data.length);
  for (let query = 0; query < asking; query++) {
    const begin = query * answering * batch;
    for (let n = 0; n < batch; n++) shareOut(x.data, data, begin + n, answering, batch, extra);
  }
  return { shape: x.shape, data };
}

/**
 * One softmax of `count` numbers, `stride` apart.
 * @param {Float64Array} x @param {Float64Array} out @param {number} begin @param {number} count
 * @param {number} stride @param {number} extra
 */
function shareOut(x, out, begin, count, stride, extra) {
  let top = extra ? 0 : -Infinity;
  for (let k = 0; k < count; k++) top = Math.max(top, x[begin + k * stride]);
  let total = 0;
  for (let k = 0; k < count; k++) total += out[begin + k * stride] = Math.exp(x[begin + k * stride] - top);
  if (extra) total += extra * Math.exp(-top);
  for (let k = 0; k < count; k++) out[begin + k * stride] /= total;
}

/**
 * Rows of `tok dim` for tokens `pos batch`, as `dim pos batch`.
 * @param {Tensor} table @param {Tensor} tokens @param {number[]} shape @returns {Tensor}
 */
export function lookupOf(table, tokens, shape) {
  const dims = table.shape[1],
    count = tokens.data.length;
  const data = new Float64Array(dims * count);
  for (let dim = 0; dim < dims; dim++) {
    for (let n = 0; n < count; n++) data[dim * count + n] = table.data[tokens.data[n] * dims + dim];
  }
  return { shape, data };
}
