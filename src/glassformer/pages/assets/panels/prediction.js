// Prediction: the most probable token after every position, and all probabilities after the cursor.

import { s } from "../dom.js";
import { svgRoot } from "../chart.js";
import { columnOf } from "../judge.js";
import { percent, short } from "../numbers.js";
import { rove } from "../rove.js";
import { tip } from "../tip.js";
import { wrappedText } from "./geometry.js";
import { tokenDisc } from "./geometry_marks.js";
import { listedTokens } from "./few_tokens.js";
import { placeName, spotName, tokenLabel, tokenPaint } from "./places.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../types.js").Verdict} Verdict */

const PLACE_WIDE = [41, 64]; // pixels: a position of the row, at least and at most
const PLACE_HIGH = 104;
const BAR_HIGH = 24;

/** @type {import("../types.js").Panel<View>} */
export const predictionPanel = {
  id: "prediction",
  title: "Prediction",
  wide: true,
  about: (view) =>
    `What the model writes after ${view.family.afterWords}, and its probabilities after ` +
    `${spotName(view, view.place)}. Click a position to move the cursor there.`,
  draw(view, width) {
    const beside = width >= 760;
    const places = placeRow(view, beside ? width * 0.5 - 20 : width);
    const bars = tokenBars(view, beside ? width * 0.5 - 20 : width);
    const left = beside ? width * 0.5 + 20 : 0;
    const words = predictionWords(view, view.family.verdict(view, view.place));
    const lines = wrappedText(words, (beside ? width * 0.5 - 40 : width) * 0.78);
    places.group.append(
      ...lines.map((line, i) => s("text", { x: 0, y: places.height + 20 + 22 * i, "font-size": 15 }, line)),
    );
    places.height += 12 + 22 * lines.length;
    const top = beside ? 0 : places.height + 20;
    return {
      node: svgRoot(
        width,
        beside ? Math.max(places.height, bars.height) : top + bars.height,
        view.colours,
        places.group,
        s("g", { transform: `translate(${left} ${top})` }, bars.group),
      ),
      alt: words,
      get table() {
        return predictionTable(view);
      },
    };
  },
};

/** @param {View} view @param {Verdict} verdict */
function predictionWords(view, { allowed, winner, right, margin }) {
  const chance = columnOf(view.probabilities, view.place)[winner];
  const says =
    `After ${spotName(view, view.place)} the model gives ` +
    `${Number.isFinite(chance) ? percent(chance) : "NaN"} to ${tokenLabel(view, winner)}`;
  const gap = margin === null ? "" : `, ${short(margin)} logits ahead of the next`;
  if (allowed === null) {
    return `${says}${gap}; ${view.family.openWords} here.`;
  }
  const names = allowed.map((token) => tokenLabel(view, token));
  const wanted =
    names.length > 4
      ? `one of ${names.length} tokens`
      : names.length > 1
        ? `${names.slice(0, -1).join(", ")} or ${names[names.length - 1]}`
        : names[0];
  const demand = `${view.payload.task.words.demand} ${wanted}`;
  const tie = !right && allowed.includes(winner) ? ", and no other token may be as likely" : "";
  return `${says}: ${right ? "right" : "wrong"}, ${demand}${tie}; margin ${short(margin ?? NaN)} logits.`;
}

/**
 * Every position with the token read and the token written after it.
 * @param {View} view @param {number} width
 */
function placeRow(view, width) {
  const places = view.family.toldPlaces(view);
  const lines = Math.ceil(places.length / Math.max(1, Math.floor(width / PLACE_WIDE[0])));
  const across = Math.max(1, Math.ceil(places.length / lines)); // lines of one length
  const wide = Math.min(PLACE_WIDE[1], Math.floor(width / across));
  const group = s("g", { role: "group" });
  const cards = places.map((place, i) =>
    placeCard(view, place, wide, (i % across) * wide, 22 + Math.floor(i / across) * PLACE_HIGH),
  );
  group.append(s("text", { x: 0, y: 12, fill: view.colours.muted }, "read, then written"), ...cards);
  rove(group, cards);
  return { group, height: 22 + Math.ceil(places.length / across) * PLACE_HIGH };
}

/** @param {View} view @param {number} place @param {number} wide @param {number} x @param {number} y */
function placeCard(view, place, wide, x, y) {
  const { colours } = view;
  const verdict = view.family.verdict(view, place);
  const isCursor = place === view.place;
  const isWriting = view.family.writingPlaces(view).includes(place);
  const [mark, tone] =
    verdict.right === null ? ["·", colours.muted] : verdict.right ? ["✓", colours.good] : ["✗", colours.bad];
  const middle = wide / 2 - 2;
  const text = (
    /** @type {number} */ at,
    /** @type {string} */ words,
    /** @type {Object<string, any>} */ more,
  ) => s("text", { x: middle, y: at, "text-anchor": "middle", ...more }, words);
  const go = () => view.change({ place });
  const said = verdict.right === null ? "open" : verdict.right ? "right" : "wrong";
  const words = isWriting
    ? `after ${spotName(view, place)}: ${tokenLabel(view, verdict.winner)}, ${said}`
    : `${spotName(view, place)} is read`;
  const card = s(
    "g",
    {
      transform: `translate(${x} ${y})`,
      role: "button",
      "aria-label": words,
      "aria-pressed": String(isCursor),
      tabindex: "-1",
      "data-key": `place ${place}`,
      "data-place": place,
      cursor: "pointer",
      onclick: go,
      onkeydown: (/** @type {KeyboardEvent} */ event) =>
        (event.key === "Enter" || event.key === " ") &&
        (event.preventDefault(), event.stopPropagation(), go()),
    },
    s("rect", {
      x: 1,
      y: 1,
      width: wide - 5,
      height: PLACE_HIGH - 8,
      rx: 8,
      fill: isCursor ? colours.zero : colours.paper,
      stroke: isCursor ? colours.accent : colours.faint,
      "stroke-width": isCursor ? 2 : 1,
    }),
    readDisc(view, place, middle, 20),
    text(39, placeName(view, place), { "font-size": 11, fill: colours.muted }),
    isWriting && text(52, "↓", { fill: colours.muted, "font-size": 11 }),
    isWriting && tokenDisc(view, verdict.winner, middle, 66, 11),
    isWriting && text(91, mark, { fill: tone, "font-weight": 700, "font-size": 13 }),
  );
  return tip(card, () => [words]);
}

/**
 * A mark of an addition is shown as itself, whatever token it shares.
 * @param {View} view @param {number} place @param {number} x @param {number} y
 */
function readDisc(view, place, x, y) {
  if (view.labels[place] === tokenLabel(view, view.tokens[place]))
    return tokenDisc(view, view.tokens[place], x, y, 11);
  return s(
    "text",
    { x, y: y + 5, "text-anchor": "middle", "font-weight": 600, "font-size": 14 },
    view.labels[place],
  );
}

/** Probabilities after the cursor, one bar per token. @param {View} view @param {number} width */
function tokenBars(view, width) {
  const chances = columnOf(view.probabilities, view.place);
  const verdict = view.family.verdict(view, view.place);
  const group = s(
    "g",
    {},
    s(
      "text",
      { x: 0, y: 12, fill: view.colours.muted },
      `probability after ${spotName(view, view.place)}${verdict.allowed ? "; ○ allowed" : ""}`,
    ),
  );
  const shown = listedTokens(chances, [...(verdict.allowed ?? []).slice(0, 1), verdict.winner]);
  shown.forEach((token, i) =>
    group.append(tokenBar(view, token, chances[token], verdict, 22 + i * BAR_HIGH, width)),
  );
  const end = 26 + shown.length * BAR_HIGH;
  if (shown.length === chances.length) return { group, height: end };
  group.append(s("text", { x: 0, y: end + 14, fill: view.colours.muted }, otherWords(chances, shown)));
  return { group, height: end + BAR_HIGH };
}

/** What is left of the probability. @param {number[]} chances @param {number[]} shown */
function otherWords(chances, shown) {
  const rest = chances.reduce((sum, chance, token) => (shown.includes(token) ? sum : sum + chance), 0);
  return `${chances.length - shown.length} other tokens together: ${short(rest)}`;
}

/**
 * @param {View} view @param {number} token @param {number} chance @param {Verdict} verdict @param {number} y
 * @param {number} width
 */
function tokenBar(view, token, chance, verdict, y, width) {
  const { colours } = view;
  const [start, room] = [52, Math.max(40, width - 52 - 76)];
  const isAllowed = verdict.allowed?.includes(token) ?? false;
  const isWinner = token === verdict.winner;
  const long = Number.isFinite(chance) ? Math.max(1, chance * room) : 0;
  const middle = y + BAR_HIGH / 2;
  return s(
    "g",
    { "data-token": token, "data-allowed": String(isAllowed), "data-winner": String(isWinner) },
    isAllowed
      ? s("circle", { cx: 8, cy: middle, r: 4.5, fill: "none", stroke: colours.good, "stroke-width": 2 })
      : null,
    tokenDisc(view, token, 32, middle, 10),
    s("rect", { x: start, y: y + 4, width: room, height: BAR_HIGH - 8, rx: 3, fill: colours.zero }),
    s("rect", {
      x: start,
      y: y + 4,
      width: long,
      height: BAR_HIGH - 8,
      rx: 3,
      fill: tokenPaint(view, token).colour,
    }),
    s(
      "text",
      {
        x: start + room + 8,
        y: middle + 4,
        "font-weight": isWinner ? 700 : 400,
        fill: isWinner ? colours.ink : colours.muted,
      },
      short(chance, 4),
    ),
  );
}

/** Every token's logit and probability after every position. @param {View} view */
function predictionTable(view) {
  const columns = ["place", "read", "token", "logit", "probability", "allowed", "wins"];
  const rows = view.tokens.flatMap((_, place) => {
    const { allowed, winner } = view.family.verdict(view, place);
    const [logits, chances] = [columnOf(view.logits, place), columnOf(view.probabilities, place)];
    return logits.map((logit, token) => [
      placeName(view, place),
      view.labels[place],
      tokenLabel(view, token),
      logit,
      chances[token],
      allowed === null ? "" : String(allowed.includes(token)),
      String(token === winner),
    ]);
  });
  return { columns, rows };
}
