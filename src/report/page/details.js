// What is known about a bar, in words: the tip beside the pointer, and the panel "Selected".

const tip = document.getElementById("tip");
const details = document.getElementById("details");

const laneWords = (lane) => (runs.length > 1 ? `${lane.name}, ${lane.run.label}` : lane.name);

// Why a span began when it did, and after which one.
function causeWords(bar) {
  const row = bar.lane.rows[bar.row];
  const cause = causeOf(bar);
  const name = cause && nameOfCause(cause);
  if (row.causes[bar.at] === 0) return name ? say("launched by {}", name) : "";
  const words = data.causes[row.causes[bar.at]];
  return name ? `${words}: ${name}` : words;
}

function rateWords(detail, length) {
  const [, bytes, flops] = detail;
  const words = [];
  if (bytes > 0) words.push(formatBytes(bytes));
  if (bytes > 0 && length > 0) words.push(formatRate((bytes / length) * 1e9));
  if (flops > 0 && length > 0) words.push(formatFlops((flops / length) * 1e9));
  return words.join(", ");
}

// Pairs of a term and its words.
function factsOf(bar) {
  const row = bar.lane.rows[bar.row];
  const last = bar.last ?? bar.at;
  const start = exactTime(row.starts[bar.at] + bar.lane.run.shift);
  const facts = [[say("where"), laneWords(bar.lane)], [say("start"), start]];
  const folded = sumOf(row, bar.at, last).count > 1;
  return facts.concat(folded ? foldFacts(row, bar.at, last) : spanFacts(row, bar));
}

function foldFacts(row, at, last) {
  return [
    [say("over"), formatNanos(row.ends[last] - row.starts[at])],
    [say("busy"), formatNanos(sumOf(row, at, last).busy)],
    [say("mostly"), categories[mainCategory(row, at, last)].name],
    [
      say("note"),
      last > at ? say("zoom in to see them apart") : say("folded in this page"),
    ],
  ];
}

function spanFacts(row, bar) {
  const {at} = bar;
  const length = row.ends[at] - row.starts[at];
  const detail = data.details[row.details[at] - 1];
  const facts = [
    [say("length"), row.endless[at] ? say("never ends") : formatNanos(length)],
    [say("kind"), categories[row.categories[at]].name],
    [say("rate"), detail && rateWords(detail, length)],
    [say("detail"), detail?.[0]],
    [say("line"), row.lines[at] > 0 ? String(row.lines[at]) : ""],
    [say("began"), causeWords(bar)],
  ];
  return facts.filter(([, words]) => words);
}

function nameOfCause({lane, row: number, at}) {
  const row = lane.rows[number];
  const count = row.counts[at];
  const name = count > 0 ? say("one of {} spans", count) : shortOf(row.names[at]);
  return `${name} (${lane.name})`;
}

function nameOf(bar) {
  const row = bar.lane.rows[bar.row];
  const {count} = sumOf(row, bar.at, bar.last ?? bar.at);
  return count > 1 ? say("{} spans", count) : textOf(row.names[bar.at]);
}

function factList(facts) {
  const list = document.createElement("dl");
  for (const [term, words] of facts)
    list.append(
        element("dt", "", term),
        element("dd", term === say("began") ? "foreign cause" : "foreign", words));
  return list;
}

function gapFacts({gap, lane}) {
  return [
    [say("where"), laneWords(lane)],
    [say("start"), exactTime(gap.start + lane.run.shift)],
    [say("length"), formatNanos(gap.end - gap.start)],
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
    details.replaceChildren(element("p", "muted", say("Nothing yet. Click a span.")));
    return;
  }
  details.replaceChildren(...describe(bar));
  const cause = !bar.gap && causeOf(bar);
  if (!cause) return;
  const button = element("button", "jump", say("Go to what it waited for"));
  button.type = "button";
  button.addEventListener("click", () => selectAndReveal(cause));
  details.append(button);
}
