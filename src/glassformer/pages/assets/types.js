// The types of the page's data, in JSDoc; never part of a page.

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
 * @typedef {{name: string, paper: string, ink: string, muted: string, faint: string, wash: string, line: string,
 *   edge: string, good: string, bad: string, accent: string, negative: string, zero: string, positive: string,
 *   high: string, tint: number, "on-accent": string}} Colours
 */

/** @typedef {{label: string, colour: string, ink: string}} Token  its colour, and black or white on it */

/**
 * @typedef {{prefix: string, attention: boolean, heads: number, scale: number, extra: number, slopes: number[],
 *   rotation: string, bias: string, feedforward: boolean, hidden: number, gated: boolean,
 *   residual: boolean}} Layer  rotation: of queries and keys, its name; bias: what is added to a score, in words
 */

/**
 * A stored array. `acts` names, in order, the intermediates of the forward pass that it reaches.
 * @typedef {{name: string, shape: number[], size: number, learned: boolean, about: string, acts: string[],
 *   tied: string[], dead: boolean}} Parameter
 */

/**
 * @typedef {{precision: string, vocab: number, context: number, any_length: boolean, places: number, width: number, layers: Layer[],
 *   parameters: Parameter[], counts: Object<string, any>, constants: string,
 *   programs: {forward: Program, settle: Program, readout: Program}}} ModelData
 */

/**
 * The words for a task's models and inputs: Python's tasks.TaskWords.
 * @typedef {{model: string, ability: string, input: string, inputs: string, held_out: string, progress: string,
 *   error: string, demand: string, counted: string, fails: string}} Words
 */

/**
 * What must follow a context: an automaton that reads its tokens from the last to the first, from state 0;
 * `next` (`read tok`) says where a token leads. At the end `window` (a full window) or `beginning` (a shorter
 * context: it begins a sequence) gives the demand of the state reached: 0 is none, others are rows of `allowed`
 * (`demand tok`).
 * @typedef {{name: string, about: string, next: Packed, window: Packed, beginning: Packed, allowed: Packed,
 *   words: Words}} RuleTask
 */

/**
 * The same for prompts, with the tokens that each position may have.
 * @typedef {{name: string, about: string, next: Packed, window: Packed, beginning: Packed, allowed: Packed,
 *   slots: number[][], words: Words}} QuestionTask
 */

/**
 * `prompt` has the token of every mark before the answer, and -1 for a digit; positions are units first. Numbers are
 * typed and shown in base ten; digits are those of `base`.
 * @typedef {{name: string, about: string, digits: number, base: number, any_length: boolean, prompt: number[],
 *   x: number[], y: number[], z: number[], labels: string[], positions: string[], words: Words}} AdderTask
 */

/**
 * An input to load by a click. `input` is what a user would type: "4 7 +", or "57+68".
 * @typedef {{input: string, about: string, margin: number|null, expected: string, got: string, right:
 *   boolean}} Example
 */

/**
 * @typedef {{verdict: "proved"|"refuted"|"undecided"|"not_applicable", inputs: string, arithmetic: string,
 *   smallest_margin: number|null, rounding_bound: number|null, seconds: number|null, sentence: string,
 *   reason: string, source: string, lawful: Object<string, any>|null, classes: {total: number, proved: number, refuted: number, undecided:
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
 * The fixed test set with the right answers: the live error is over it.
 * Rules and questions: tokens `pos batch` (padded with 0), lengths `batch`, allowed `tok batch`.
 * Adders: tokens `pos batch` of problem and right answer (without its last digit), answers `step batch`.
 * @typedef {{about: string, tokens: Packed, lengths: Packed|null, allowed: Packed|null, answers:
 *   Packed|null}} TestSet
 */

/**
 * @typedef {{title: string, text: string, panel: string, picture: string, state: Object<string, any>}} Chapter
 */

/**
 * @typedef {{family: "rule"|"question"|"addition", name: string, target: string, about: string, version: string, colours:
 *   {light: Colours, dark: Colours}, tokens: Token[], model: ModelData, task: RuleTask|QuestionTask|AdderTask, weights:
 *   Object<string, Packed>, training: Training|null, population: Population|null, proof: ProofData|null,
 *   measures: Measure[], start: {input: string, why: string}, test: TestSet, arithmetic: string, story:
 *   Chapter[], missing: Object<string, string>}} Payload
 */

/** @typedef {{tokens: number[], input: string}|{error: string}} InputRead  the input as it is typed */

/**
 * What is right after a position: `allowed` null where nothing is demanded.
 * @typedef {{allowed: number[]|null, winner: number, right: boolean|null, margin: number|null}} Verdict
 */

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./judge.js").RuleAnswer} RuleAnswer */
/** @typedef {import("./judge.js").SumAnswer} SumAnswer */

/**
 * Views of pages that have the part: of one family, or where `missing` has checked for it.
 * @typedef {View & {payload: {task: AdderTask}, answer: SumAnswer, now: AdderView}} AdderView
 * @typedef {View & {payload: {task: QuestionTask}}} QuestionView
 * @typedef {View & {payload: {proof: ProofData}}} ProofView
 * @typedef {View & {payload: {population: Population}}} PopulationView
 */

/**
 * What depends on the task's family. `first`: the ids of the panels that come first (the others
 * follow in the order of main.js), `narrow`: of those that need not be wide;
 * `read` what is typed; `run` the pass over it, with what it writes; `judge` the test set; `fields` to type in,
 * `glance` the answer beside them; `answer` the result, `verdict` at one position; `cursor` the first
 * position shown; `labels` the label at each position; `writingPlaces` those whose output counts, `toldPlaces` those
 * that rows and matrices show, `rowChoices` the words for these and for all; `panelOf` the panel of an
 * intermediate; `changeWords` what a changed parameter does; `wrongWords` of a counterexample.
 * @typedef {{first: string[], narrow: string[], rowWords: string, afterWords: string,
 *   rowChoices: [string, string]|null,
 *   openWords: string, noMargin: string, read: (payload: Payload, text: string) => InputRead,
 *   run: (payload: Payload, params: Object<string, Tensor>, prompt: number[]) => {tokens: number[],
 *     run: (name: string) => Tensor, written: number[]},
 *   judge: (payload: Payload) => import("./testset.js").Judge,
 *   fields(viewOf: () => View, offer: (text: string) => void): import("./panels/input.js").Fields,
 *   glance(view: View, offer: (text: string) => void): Child[],
 *   answer(view: View): RuleAnswer|SumAnswer,
 *   cursor(view: View): number, labels(view: View): string[],
 *   verdict(view: View, place: number): Verdict, placeName: (payload: Payload, place: number) => string,
 *   writingPlaces(view: View): number[], toldPlaces(view: View): number[],
 *   title: (payload: Payload) => string, exampleWords: (example: Example) => string,
 *   wrongWords: (example: Example, isTied: boolean) => string,
 *   hasCertificate: (proof: ProofData) => boolean, panelOf: (name: string) => string,
 *   changeWords(view: View): Child[]}} Family
 */

/**
 * All that the address bar remembers. `step` null: the final model; `seed` null: the best seed; `place`:
 * the position whose output is shown (null: the last); `dims`, `headDims`: the two dimensions of the stream
 * and of a head that geometry shows (null: the largest variance); `key`: the key shown in attention (null:
 * the one with the largest weight); `everyRow`: all rows of an adder's attention.
 * @typedef {{input: string, step: number|null, seed: number|null, place: number|null, layer: number, head:
 *   number, dims: [number, number]|null, headDims: [number, number]|null, key: number|null, everyRow:
 *   boolean, chosen: string|null, changes: Object<string, number>, panel: string|null, chapter: number|null,
 *   theme: "light"|"dark"|null}} State
 */

/** @typedef {import("./store.js").Store<State>} Store  of a model's page */

/**
 * What a panel draws: a picture (SVG), its text alternative, and its data. `isRough`: to be drawn again
 * at rest.
 * @typedef {{node: Element, alt: string, table: {columns: string[], rows: Array<Array<string|number|null>>},
 *   note?: string, controls?: Element[], isRough?: boolean}} Drawing
 */

/**
 * What the panels need of the view of any page.
 * @typedef {{colours: Colours, isMoving?: boolean, payload?: {name: string}}} AnyView
 */

/**
 * A part of the page. `draw` is called again whenever the view or the width changes. `missing` gives the
 * sentence shown instead where the page has no data for it, or null. `families`: those whose pages have the
 * panel; without it, every page has it.
 * @template View
 * @typedef {{id: string, title: string, wide?: boolean, families?:
 *   import("./families/families.js").FamilyName[], about: (view: View) => string,
 *   missing?: (view: View) => string|null, draw: (view: View, width: number) => Drawing}} Panel
 */

export {};
