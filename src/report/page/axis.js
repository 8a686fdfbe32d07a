// The part of time that is seen, and its ticks.

// All runs, with a little room at the end for what is written there.
function fullRange() {
  const some = runs.filter((run) => run.bars > 0);
  if (some.length === 0) return {start: 0, end: 1000};
  const start = Math.min(...some.map((run) => run.start + run.shift));
  const end = Math.max(...some.map((run) => run.end + run.shift));
  const length = Math.max(end - start, 1);
  return {start, end: end + length * 0.02};
}

const view = fullRange();

function setView(start, end) {
  const full = fullRange();
  const longest = full.end - full.start;
  const length = Math.min(Math.max(end - start, Math.min(20, longest)), longest);
  // Anchored at the middle of what was asked for when that was too short or too long.
  let from = start + (end - start - length) / 2;
  from = Math.min(Math.max(from, full.start), full.end - length);
  const changed = from !== view.start || from + length !== view.end;
  view.start = from;
  view.end = from + length;
  if (changed) redraw();
  return changed;
}

function fit() {
  const full = fullRange();
  setView(full.start, full.end);
}

// By a factor, so that `time` stays where it is.
function zoomAt(time, factor) {
  return setView(time - (time - view.start) * factor, time + (view.end - time) * factor);
}

function pan(nanos) { return setView(view.start + nanos, view.end + nanos); }

const nanosPerPixel = () => (view.end - view.start) / plot.width;
const xOf = (time) => plot.left + (time - view.start) / nanosPerPixel();
const timeAt = (x) => view.start + (x - plot.left) * nanosPerPixel();

// The least of 1, 2, 5, 10, ... nanoseconds that leaves room for its label.
function tickStep() {
  const least = nanosPerPixel() * 84 * theme.scale;
  for (let decade = 1;; decade *= 10)
    for (const factor of [1, 2, 5])
      if (decade * factor >= least) return decade * factor;
}

function ticks() {
  if (runs.every((run) => run.bars === 0)) return [];
  const step = tickStep();
  const [name, factor] = unitFor(Math.max(Math.abs(view.start), Math.abs(view.end)));
  const digits = Math.max(0, Math.round(Math.log10(factor)) - Math.floor(Math.log10(step)));
  const list = [];
  for (let time = Math.ceil(view.start / step) * step; time <= view.end; time += step)
    list.push({x: xOf(time), label: withDecimal(`${(time / factor).toFixed(digits)} ${name}`)});
  return list;
}
