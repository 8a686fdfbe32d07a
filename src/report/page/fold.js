// Bars to draw: a row's bars at the present scale, with neighbours that are too thin folded.

const leastPixels = 2;

// Calls emit(first, last, start, end) for each bar of the row in view, from left to right; first
// and last are positions in the row. Folds keep to cells of time, so that they stay while one pans.
function eachBar(row, shift, emit) {
  const cell = Math.max(1, nanosPerPixel() * leastPixels);
  const from = Math.floor((view.start - shift) / cell) * cell;
  const {starts, ends, size} = row;
  let at = lowerBound(ends, from);
  while (at < size && starts[at] + shift < view.end) {
    let last = at;
    if (ends[at] - starts[at] < cell) last = foldEnd(row, at, cell);
    emit(at, last, starts[at] + shift, ends[last] + shift);
    at = last + 1;
  }
}

// The last of the thin bars that begin in the cell of the one at `first`.
function foldEnd(row, first, cell) {
  const {starts, ends, size} = row;
  const end = (Math.floor(starts[first] / cell) + 1) * cell;
  let last = gallop(starts, first + 1, size, end) - 1;
  if (last > first && ends[last] - starts[last] >= cell) --last;
  return Math.max(last, first);
}

// The first position from `from` on with a value of `limit` or more; it is near.
function gallop(values, from, size, limit) {
  let step = 1;
  while (from + step <= size && values[from + step - 1] < limit) {
    from += step;
    step *= 2;
  }
  let high = Math.min(size, from + step);
  while (from < high) {
    const middle = (from + high) >> 1;
    if (values[middle] < limit)
      from = middle + 1;
    else
      high = middle;
  }
  return from;
}

// The category that takes most of the time; of many bars, of a sample of them.
function mainCategory(row, first, last) {
  if (first === last) return row.categories[first];
  const time = new Float64Array(categories.length);
  const count = last - first + 1;
  const taken = Math.min(count, 12);
  for (let i = 0; i < taken; ++i) {
    const at = first + Math.floor((i * count) / taken);
    time[row.categories[at]] += row.ends[at] - row.starts[at] + 1;
  }
  return time.indexOf(Math.max(...time));
}

// How many spans stand behind the bars [first, last], and their own time.
function sumOf(row, first, last) {
  let count = 0;
  let busy = 0;
  for (let i = first; i <= last; ++i) {
    count += row.counts[i] || 1;
    busy += row.counts[i] ? row.busy[i] : row.ends[i] - row.starts[i];
  }
  return {count, busy};
}
