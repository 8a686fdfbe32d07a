// The embedded data as runs, lanes and rows of typed arrays; page_data.cpp writes it.

const data = JSON.parse(document.getElementById("data").textContent);

// In the page's language, with its places filled in. Only what stands here as a literal is
// translated: page_data.cpp looks for it.
function say(english, ...places) {
  return (data.words[english] ?? english).replaceAll("{}", () => places.shift());
}

function cleanColumn(values, size, Type) { return values ? Type.from(values) : new Type(size); }

function readRow(packed, firstBar) {
  const size = packed.size;
  const starts = new Float64Array(size);
  const ends = new Float64Array(size);
  const endless = cleanColumn(packed.e, size, Uint8Array);
  let end = 0;
  for (let i = 0; i < size; ++i) {
    starts[i] = end + (packed.s ? packed.s[i] : 0);
    end = starts[i] + (packed.d ? packed.d[i] : 0);
    ends[i] = endless[i] ? Infinity : end;
  }
  return {
    size,
    starts,
    ends,
    endless,
    firstBar,
    names: cleanColumn(packed.n, size, Uint32Array),
    labels: cleanColumn(packed.b, size, Uint32Array),
    categories: cleanColumn(packed.c, size, Uint8Array),
    causes: cleanColumn(packed.k, size, Uint8Array),
    lines: cleanColumn(packed.l, size, Uint16Array),
    details: cleanColumn(packed.x, size, Uint32Array),
    causeBars: cleanColumn(packed.w, size, Int32Array),
    counts: cleanColumn(packed.m, size, Uint32Array),
    busy: cleanColumn(packed.y, size, Float64Array),
  };
}

function readLane(packed, run, number) {
  const rows = [];
  for (const row of packed.rows) {
    rows.push(readRow(row, run.bars));
    run.bars += row.size;
  }
  const gaps = [];
  return {
    run,
    number,
    rows,
    gaps,
    name: packed.name,
    group: packed.group,
    steps: packed.steps,
    merged: packed.merged,
    times: packed.times,
    values: packed.values,
    most: packed.values ? packed.values.reduce((a, b) => Math.max(a, b), 0) : 0,
    isShare: packed.name.endsWith("%"),
    top: 0,
    collapsed: false,
  };
}

function readRun(packed, number) {
  const run = {
    number,
    label: packed.label,
    start: packed.start,
    end: packed.end,
    firstStep: packed.first_step,
    bars: 0,
    shift: 0
  };
  run.lanes = packed.lanes.map((lane, i) => readLane(lane, run, i));
  for (const [lane, start, length, text] of packed.gaps)
    run.lanes[lane].gaps.push({start, end: start + length, text});
  run.endless = run.lanes.some((lane) => lane.rows.some((row) => row.endless.includes(1)));
  return run;
}

// What the full height of lanes of counters stands for, as in the window
// (ui/timeline/counter_scale.h): 100 of a share, else the most that any run reached in lanes of that
// name.
function setTops(runs) {
  const lanes = runs.flatMap((run) => run.lanes).filter((lane) => lane.times);
  for (const lane of lanes) {
    const alike = lanes.filter((other) => other.name === lane.name);
    lane.top = Math.max(lane.isShare ? 100 : 0, ...alike.map((other) => other.most));
  }
}

const runs = data.runs.map(readRun);
setTops(runs);
const categories = data.categories.map(
    ([name, slug]) => ({name, slug, hatched: slug === "held" || slug === "synchronisation"}));

const textOf = (id) => data.strings[id];
const shortOf = (id) => data.shorts[id] ?? data.strings[id];

// The place of a bar by its number within the run; null where there is none.
function barByNumber(run, number) {
  for (const lane of run.lanes)
    for (let row = 0; row < lane.rows.length; ++row) {
      const {firstBar, size} = lane.rows[row];
      if (number >= firstBar && number < firstBar + size) return {lane, row, at: number - firstBar};
    }
  return null;
}

// The bar that let this one begin; null where that is not known.
function causeOf(bar) {
  const row = bar.lane.rows[bar.row];
  const distance = row.causeBars[bar.at];
  return distance === 0 ? null : barByNumber(bar.lane.run, row.firstBar + bar.at - distance);
}

// The first position in sorted `values` that is not below `value`.
function lowerBound(values, value) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
