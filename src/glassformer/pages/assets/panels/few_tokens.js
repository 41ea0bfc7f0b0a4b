// A wide vocabulary in a list: the tokens that matter here, and how many are left out.

const MOST_LISTED = 24; // tokens up to which all are listed
const FEW_LISTED = 12; // of a wider vocabulary: those with the largest numbers

/**
 * The tokens to list, in their order: those with the largest sizes, and those that are `kept` in any case.
 * @param {number[]} sizes @param {number[]} [kept] @returns {number[]}
 */
export function listedTokens(sizes, kept = []) {
  const every = sizes.map((_, token) => token);
  if (every.length <= MOST_LISTED) return every;
  const largest = [...every].sort((a, b) => sizes[b] - sizes[a] || a - b).slice(0, FEW_LISTED);
  return [...new Set([...largest, ...kept])].sort((a, b) => a - b);
}

/** Whether a vocabulary has too many tokens to name each of them. @param {number} count */
export function isWideVocabulary(count) {
  return count > MOST_LISTED;
}
