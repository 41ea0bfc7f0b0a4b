// Colours: mixtures, the two maps of numbers, and ink that can be read. Mirrors core/theme.py.

/** @typedef {import("./types.js").Colours} Colours */

/** Red, green and blue, 0 to 255. @param {string} colour @returns {number[]} */
export function channels(colour) {
  const bits = parseInt(colour.slice(1), 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
}

/**
 * `share` of a colour in another: mix("#ff0000", "#0000ff", 0.5) is "#800080".
 * @param {string} a @param {string} b @param {number} share
 */
export function mix(a, b, share) {
  const one = channels(a);
  const two = channels(b);
  const bits = one.reduce((sum, value, i) => sum * 256 + evenly(share * value + (1 - share) * two[i]), 0);
  return `#${bits.toString(16).padStart(6, "0")}`;
}

/** The nearest whole number, of two the even one: as Python rounds. @param {number} value */
function evenly(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}

/** WCAG's relative luminance, 0 (black) to 1 (white). @param {string} colour */
export function luminance(colour) {
  const linear = channels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/** WCAG's contrast of two colours, 1 to 21. @param {string} a @param {string} b */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((one, two) => one - two);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever has more contrast. @param {string} colour */
export function inkOn(colour) {
  return luminance(colour) > 0.179 ? "#000000" : "#ffffff";
}

/**
 * From `negative` through `zero` to `positive`; |limit| has the full colour.
 * @param {number} value @param {number} limit @param {Colours} colours
 */
export function signedColour(value, limit, colours) {
  if (!Number.isFinite(value))
    return value > 0 ? colours.positive : value < 0 ? colours.negative : colours.faint;
  const share = limit > 0 ? Math.min(1, Math.abs(value) / limit) : 0;
  return mix(value < 0 ? colours.negative : colours.positive, colours.zero, share);
}

/** From `zero` to `high`, for a share between 0 and 1. @param {number} value @param {Colours} colours */
export function shareColour(value, colours) {
  return Number.isFinite(value)
    ? mix(colours.high, colours.zero, Math.min(1, Math.max(0, value)))
    : colours.faint;
}

/**
 * A colour, so far towards the ink that it can be read as a text.
 * @param {string} colour @param {Colours} colours
 */
export function readableColour(colour, colours) {
  const shares = [1, 0.85, 0.7, 0.55, 0.4];
  return (
    shares
      .map((share) => mix(colour, colours.ink, share))
      .find((one) => contrast(one, colours.paper) >= 4.5) ?? colours.ink
  );
}
