// The shapes of data that the page's modules hand each other: JSDoc types alone, never part of a page.

/**
 * An array of numbers, first axis slowest.
 * @typedef {{shape: number[], data: Float64Array}} Tensor
 */

/**
 * The same as Python writes it: base64 of little-endian numbers.
 * @typedef {{dtype: "float64"|"float32"|"int32"|"uint8", shape: number[], data: string}} Packed
 */

/**
 * What is to be computed: nodes in order, each [operation, arguments (node numbers), options, shape].
 * A size of -1 in a shape is the batch. `names` says which node is which named intermediate.
 * @typedef {{nodes: Array<[string, number[], any, number[]]>, names: Object<string, number>}} Program
 */

/**
 * @typedef {{name: string, paper: string, ink: string, muted: string, faint: string, good: string, bad: string,
 *   accent: string, negative: string, zero: string, positive: string, high: string, tint: number}} Colours
 */

/** @typedef {{label: string, colour: string, ink: string}} Token  its colour, and black or white on it */

/**
 * @typedef {{prefix: string, attention: boolean, heads: number, scale: number, extra: number, slopes: number[],
 *   rope: boolean, feedforward: boolean, hidden: number, gated: boolean,
 *   residual: boolean}} Layer
 */

/**
 * A stored array. `acts` names, in order, the intermediates of the forward pass that it reaches.
 * @typedef {{name: string, shape: number[], size: number, learned: boolean, about: string, acts: string[],
 *   tied: string[], dead: boolean}} Parameter
 */

/**
 * @typedef {{precision: string, vocab: number, context: number, places: number, width: number, layers: Layer[],
 *   parameters: Parameter[], counts: Object<string, any>, constants: string,
 *   programs: {forward: Program, settle: Program, readout: Program}}} ModelData
 */

/**
 * What must follow a context: a machine that reads its tokens from the last to the first. It begins in state 0;
 * `next` (`read tok`) says where a token leads. At the end `window` (a full window) or `beginning` (a shorter
 * context: it begins a sequence) gives the demand of the state reached: 0 is none, others are rows of `allowed`
 * (`demand tok`).
 * @typedef {{name: string, about: string, next: Packed, window: Packed, beginning: Packed, allowed: Packed}}
 *   RuleTask
 */

/**
 * `prompt` has the token of every mark before the answer, and -1 where a digit stands; places are units first.
 * @typedef {{name: string, about: string, digits: number, prompt: number[], x: number[], y: number[],
 *   z: number[], labels: string[], positions: string[]}} AdderTask
 */

/**
 * An input to load by a click. `input` is what a user would type: "4 7 +", or "57+68".
 * @typedef {{input: string, about: string, margin: number|null, expected: string, got: string, right:
 *   boolean}} Example
 */

/**
 * @typedef {{verdict: "proved"|"refuted"|"undecided"|"not_applicable", inputs: string, arithmetic: string,
 *   smallest_margin: number|null, rounding_bound: number|null, seconds: number|null, sentence: string,
 *   reason: string, source: string, classes: {total: number, proved: number, refuted: number, undecided:
 *   number}, hardest: Example|null, counterexample: Example|null, worst: Example[], steps: Array<{step:
 *   number, column: number, margin: number, bound: number|null, input: string}>, error: Object<string,
 *   any>|null}} ProofData
 */

/** @typedef {{step: number, train_loss: number, loss: number, argmax_accuracy: number,
 *   right_probability: number, whole_accuracy: number, smallest_margin: number}} CurveRow */

/** @typedef {{steps: number[], params: Object<string, Packed>, best_seed: number, rows: CurveRow[],
 *   floor: number|null, note: string}} Training */

/** @typedef {{seed: number, loss: number, train_loss: number, argmax_accuracy: number,
 *   right_probability: number, whole_accuracy: number, smallest_margin: number,
 *   verdict: string|null}} SeedRow */

/** @typedef {{rows: SeedRow[], best_seed: number, steps: number[], losses: Packed,
 *   params: Object<string, Packed>|null, note: string}} Population */

/** @typedef {{label: string, value: number, low: number|null, high: number|null, of: number|null,
 *   meaning: string}} Measure */

/**
 * Inputs that never change, with what is right: the live error is over them.
 * Rules: tokens `pos batch` (padded with 0), lengths `batch`, allowed `tok batch`.
 * Adders: tokens `pos batch` of problem and right answer (without its last digit), answers `step batch`.
 * @typedef {{about: string, tokens: Packed, lengths: Packed|null, allowed: Packed|null, answers:
 *   Packed|null}} TestSet
 */

/**
 * @typedef {{title: string, text: string, panel: string, picture: string, state: Object<string, any>}} Chapter
 */

/**
 * @typedef {{kind: "rule"|"adder", name: string, target: string, about: string, version: string, colours:
 *   {light: Colours, dark: Colours}, tokens: Token[], model: ModelData, task: RuleTask|AdderTask, weights:
 *   Object<string, Packed>, training: Training|null, population: Population|null, proof: ProofData|null,
 *   measures: Measure[], start: {input: string, why: string}, test: TestSet, arithmetic: string, story:
 *   Chapter[], missing: Object<string, string>}} Payload
 */

/**
 * All that the address bar remembers. `step` null: the chosen model; `seed` null: the chosen seed; `place`:
 * the place whose output is looked at (null: the last); `dims`, `headDims`: the two dimensions of the stream
 * and of a head that geometry shows (null: the most varied); `key`: the key looked at in attention (null: the
 * one with the largest weight); `everyRow`: all rows of an adder's attention.
 * @typedef {{input: string, step: number|null, seed: number|null, place: number|null, layer: number, head:
 *   number, dims: [number, number]|null, headDims: [number, number]|null, key: number|null, everyRow:
 *   boolean, chosen: string|null, changes: Object<string, number>, panel: string|null, chapter: number|null,
 *   theme: "light"|"dark"|null}} State
 */

/**
 * What a panel draws: a picture (SVG), what it says in words, and its numbers. `isRough`: to be drawn again
 * at rest.
 * @typedef {{node: Element, alt: string, table: {columns: string[], rows: Array<Array<string|number|null>>},
 *   note?: string, controls?: Element[], isRough?: boolean}} Drawing
 */

/**
 * A part of the page. `draw` is called again whenever the view or the width changes. `missing` gives the
 * sentence that stands in its place where the page has no data for it, or null.
 * @template View
 * @typedef {{id: string, title: string, wide?: boolean, about: (view: View) => string,
 *   missing?: (view: View) => string|null, draw: (view: View, width: number) => Drawing}} Panel
 */

export {};
