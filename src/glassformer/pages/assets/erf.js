// The error function, to the last digits: a series of positive terms near 0, a continued fraction in the tails.

const SERIES_UP_TO = 2; // beyond it the tail is small, and soon exact
const FRACTIONS = 60; // of the continued fraction; at 2 they leave less than 1e-16
const ALL = 6; // from here on erf is 1 in double precision
const ROOT_PI = Math.sqrt(Math.PI);

/** @param {number} x */
export function erf(x) {
  const size = Math.abs(x);
  if (size >= ALL) return Math.sign(x);
  return size < SERIES_UP_TO ? erfSeries(x) : Math.sign(x) * (1 - erfcFraction(size));
}

/**
 * 2 exp(-x^2) / sqrt(pi) times x (1 + 2 x^2 / 3 (1 + 2 x^2 / 5 (1 + ...))): nothing takes away.
 * @param {number} x
 */
function erfSeries(x) {
  const square = x * x;
  let total = 1;
  for (let n = Math.ceil(12 + 7 * square); n >= 1; n--) total = 1 + (total * 2 * square) / (2 * n + 1);
  return ((2 * x) / ROOT_PI) * (expOfMinusSquare(x) * total);
}

/** exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))). @param {number} x */
function erfcFraction(x) {
  let rest = x;
  for (let n = FRACTIONS; n >= 1; n--) rest = x + n / 2 / rest;
  return expOfMinusSquare(x) / ROOT_PI / rest;
}

/** exp(-x^2), the square in two parts of which the first is exact. @param {number} x */
function expOfMinusSquare(x) {
  const short = Math.fround(x);
  return Math.exp(-short * short) * Math.exp((short - x) * (short + x));
}
