// The data of a spectra page: JSDoc types alone, never part of a page.

/** @typedef {import("../../../pages/assets/types.js").Packed} Packed */
/** @typedef {import("../../../pages/assets/types.js").Colours} Colours */
/** @typedef {import("../../../pages/assets/store.js").Store<import("./state.js").SpectraState>} SpectraStore */

/**
 * A column as Python writes it: numbers, or texts and the code of each row.
 * @typedef {{name: string, label: string, about: string, scale: "plain"|"signed"|"log", texts?: string[],
 *   codes?: Packed, numbers?: Packed}} PackedColumn
 */

/** @typedef {{starts: Packed, numbers: Packed}} PackedSpectra  one after the other, and where each begins */

/**
 * What is said of a weight type's number over depth.
 * @typedef {{mean: number, phases: {early?: number, middle?: number, late?: number, change_points: number[],
 *   segments: number[]}, trend: {tested: string}, words: string}} Said
 */

/**
 * A weight type over depth: `rows` of the table by layer (several where there are experts), `series` by number,
 * null where it is not known.
 * @typedef {{name: string, type: string, shape: string, treatment: string, layers: number[], rows: number[][],
 *   series: Object<string, Array<number|null>>, said: Object<string, Said>}} Course
 */

/** @typedef {Course & {model: Model, which: number, colour: string, isChosen: boolean}} ShownCourse */

/**
 * `lengths` of the weights' spectra; `places` at which a long one is known, by its length.
 * @typedef {{name: string, architecture: string, layers: number|null, heads: number|null, kv_heads: number|null,
 *   head_dim: number|null, width: number|null, numbers: number|null, notes: string[], headTable: PackedColumn[],
 *   weightTable: PackedColumn[], courses: Course[], spectra: {heads: {values: PackedSpectra, eigenvalues:
 *   PackedSpectra}, weights: PackedSpectra, lengths: number[], places: Object<string, Packed>}, random: {heads:
 *   Object<string, Packed>, weights: Object<string, Packed>}}} PackedModel
 */

/** @typedef {import("./data.js").SpectraModel} Model */

/**
 * @typedef {{kind: "spectra"|"comparison", version: string, colours: {light: Colours, dark: Colours}, name: string,
 *   lines: {light: string[], dark: string[]}, models: PackedModel[], change: PackedModel|null, comparison:
 *   {comparison?: PackedColumn[], comparison_heads?: PackedColumn[]}, notes: string[]}} SpectraPayload
 */

/** @typedef {ReturnType<typeof import("./state.js").spectraLab>} SpectraLab */
/** @typedef {ReturnType<typeof import("./state.js").spectraView>} SpectraView  what the panels draw from */

export {};
