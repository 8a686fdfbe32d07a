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
  const { at } = bar;
  const last = bar.last ?? at;
  const start = row.starts[at];
  const length = row.ends[last] - start;
  const { count, busy } = sumOf(row, at, last);
  const category = categories[mainCategory(row, at, last)].name;
  const facts = [["where", laneWords(bar.lane)], ["start", exactTime(start + bar.lane.run.shift)]];
  if (count > 1) return [...facts, ["over", formatNanos(length)], ["busy", formatNanos(busy)], ["mostly", category], ["note", last > at ? "zoom in to see them apart" : "folded in this page"]];
  facts.push(["length", formatNanos(length)], ["kind", category]);
  const detail = data.details[row.details[at] - 1];
  const rate = detail && rateWords(detail, length);
  if (rate) facts.push(["rate", rate]);
  if (detail?.[0]) facts.push(["detail", detail[0]]);
  if (row.lines[at] > 0) facts.push(["line", String(row.lines[at])]);
  const cause = causeWords(row, at);
  if (cause) facts.push(["began", withCause(cause, causeOf(bar))]);
  return facts;
}

function withCause(words, cause) {
  if (!cause) return words;
  const row = cause.lane.rows[cause.row];
  const name = row.counts[cause.at] > 0 ? `one of ${row.counts[cause.at]} spans` : shortOf(row.names[cause.at]);
  return `${words}${words.endsWith("by") ? "" : ":"} ${name} (${cause.lane.name})`;
}

function nameOf(bar) {
  const row = bar.lane.rows[bar.row];
  const { count } = sumOf(row, bar.at, bar.last ?? bar.at);
  return count > 1 ? `${count} spans` : textOf(row.names[bar.at]);
}

function factList(facts) {
  const list = document.createElement("dl");
  for (const [term, words] of facts)
    list.append(element("dt", "", term), element("dd", term === "began" ? "foreign cause" : "foreign", words));
  return list;
}

function gapFacts(bar) {
  const { gap, lane } = bar;
  return [["where", laneWords(lane)], ["start", exactTime(gap.start + lane.run.shift)], ["length", formatNanos(gap.end - gap.start)]];
}

function describe(bar) {
  if (bar.gap) return [element("p", "name-of-span", `GPU ${textOf(bar.gap.text)}`), factList(gapFacts(bar))];
  return [element("p", "name-of-span", nameOf(bar)), factList(factsOf(bar))];
}

function showTip(bar, x, y) {
  tip.hidden = !bar;
  if (!bar) return;
  tip.replaceChildren(...describe(bar));
  const { offsetWidth: width, offsetHeight: height } = tip;
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
