// Numbers as people read them, and without loss for files and fields.

/**
 * Four significant digits with a true minus: 0.8007, −12.34, 3.2e−7.
 * @param {number} value @param {number} [digits]
 */
export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e6)
      ? value.toExponential(digits - 2).replace("e+", "e")
      : String(Number(value.toPrecision(digits)));
  return minus(text);
}

/** A fixed number of decimals, for columns that line up. @param {number} value @param {number} decimals */
export function fixed(value, decimals) {
  const text = value.toFixed(decimals);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
}

/** Every digit that it takes to read the same number back. @param {number} value */
export function full(value) {
  return String(value);
}

/** 105641 as 105,641. @param {number|string} value */
export function grouped(value) {
  const text = String(value);
  return minus(text.replace(/\B(?=(\d{3})+(?!\d))/g, ","));
}

/**
 * 0.99965 as 99.965%; never 100% unless it is whole, never 0% unless it is nothing.
 * @param {number} share
 */
export function percent(share) {
  if (share === 0 || share === 1) return `${share * 100}%`;
  for (let decimals = 1; decimals < 12; decimals++) {
    const text = (share * 100).toFixed(decimals);
    if (Number(text) !== 0 && Number(text) !== 100) return `${text}%`;
  }
  return share > 0.5 ? "almost 100%" : "almost 0%";
}

/** A power as it is raised: −12 as ⁻¹². @param {number} power */
export function raised(power) {
  const digits = [...String(Math.abs(power))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
  return (power < 0 ? "⁻" : "") + digits.join("");
}

/** The same words at the head of a sentence. @param {string} text */
export function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** @param {string} text */
function minus(text) {
  return text.replace(/-/g, "−");
}
