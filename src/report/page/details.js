// What is known about a bar, in words: the tip beside the pointer, and the panel "Selected".

const tip = document.getElementById("tip");
const details = document.getElementById("details");

const laneWords = (lane) => (runs.length > 1 ? `${lane.name}, ${lane.run.label}` : lane.name);

// Why a span began when it did.
function causeWords(row, at) {
  const cause = data.causes[row.causes[at]];
  if (row.causes[at] === 0) return row.causeBars[at] === 0 ? "" : "launched by";
  if (cause === "the command before it") return "after the command before it";
  return `waited for ${cause}`;
}

function rateWords(detail, length) {
  const [, bytes, flops] = detail;
  const words = [];
  if (bytes > 0) words.push(formatBytes(bytes));
  if (bytes > 0 && length > 0) words.push(formatRate((bytes / length) * 1e9, "B/s"));
  if (flops > 0 && length > 0) words.push(formatRate((flops / length) * 1e9, "FLOP/s"));
  return words.join(", ");
}

// Pairs of a term and its words.
function factsOf(bar) {
  const row = bar.lane.rows[bar.row];
  const last = bar.last ?? bar.at;
  const start = exactTime(row.starts[bar.at] + bar.lane.run.shift);
  const facts = [["where", laneWords(bar.lane)], ["start", start]];
  const folded = sumOf(row, bar.at, last).count > 1;
  return facts.concat(folded ? foldFacts(row, bar.at, last) : spanFacts(row, bar));
}

function foldFacts(row, at, last) {
  return [
    ["over", formatNanos(row.ends[last] - row.starts[at])],
    ["busy", formatNanos(sumOf(row, at, last).busy)],
    ["mostly", categories[mainCategory(row, at, last)].name],
    ["note", last > at ? "zoom in to see them apart" : "folded in this page"],
  ];
}

function spanFacts(row, bar) {
  const {at} = bar;
  const length = row.ends[at] - row.starts[at];
  const detail = data.details[row.details[at] - 1];
  const facts = [
    ["length", row.endless[at] ? "never ends" : formatNanos(length)],
    ["kind", categories[row.categories[at]].name],
    ["rate", detail && rateWords(detail, length)],
    ["detail", detail?.[0]],
    ["line", row.lines[at] > 0 ? String(row.lines[at]) : ""],
    ["began", withCause(causeWords(row, at), causeOf(bar))],
  ];
  return facts.filter(([, words]) => words);
}

function withCause(words, cause) {
  if (!words || !cause) return words;
  const row = cause.lane.rows[cause.row];
  const count = row.counts[cause.at];
  const name = count > 0 ? `one of ${count} spans` : shortOf(row.names[cause.at]);
  return `${words}${words.endsWith("by") ? "" : ":"} ${name} (${cause.lane.name})`;
}

function nameOf(bar) {
  const row = bar.lane.rows[bar.row];
  const {count} = sumOf(row, bar.at, bar.last ?? bar.at);
  return count > 1 ? `${count} spans` : textOf(row.names[bar.at]);
}

function factList(facts) {
  const list = document.createElement("dl");
  for (const [term, words] of facts)
    list.append(
        element("dt", "", term),
        element("dd", term === "began" ? "foreign cause" : "foreign", words));
  return list;
}

function gapFacts({gap, lane}) {
  return [
    ["where", laneWords(lane)],
    ["start", exactTime(gap.start + lane.run.shift)],
    ["length", formatNanos(gap.end - gap.start)],
  ];
}

function describe(bar) {
  if (bar.gap)
    return [element("p", "name-of-span", `GPU ${textOf(bar.gap.text)}`), factList(gapFacts(bar))];
  return [element("p", "name-of-span", nameOf(bar)), factList(factsOf(bar))];
}

function showTip(bar, x, y) {
  tip.hidden = !bar;
  if (!bar) return;
  tip.replaceChildren(...describe(bar));
  const {offsetWidth: width, offsetHeight: height} = tip;
  const left = x + 16 + width > window.innerWidth - 8 ? x - width - 12 : x + 16;
  const top = y + 18 + height > window.innerHeight - 8 ? y - height - 12 : y + 18;
  tip.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}

function showDetails(bar) {
  if (!bar) {
    details.replaceChildren(element("p", "muted", "Nothing yet. Click a span."));
    return;
  }
  details.replaceChildren(...describe(bar));
  const cause = !bar.gap && causeOf(bar);
  if (!cause) return;
  const button = element("button", "jump", "Go to what it waited for");
  button.type = "button";
  button.addEventListener("click", () => selectAndReveal(cause));
  details.append(button);
}
