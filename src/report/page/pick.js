// What is under the pointer, and what is hovered and selected. A bar is { lane, row, at, last };
// an idle gap is { lane, gap }.

let hovered = null;
let selected = null;
let cursor = null;  // the time under the pointer
let lit = null;     // { runs, line } of the listing

// Thin bars have a little more room than they fill. What is drawn last is on top.
function barAt(x, y) {
  let best = null;
  let nearest = 3;
  for (const bar of drawnBars) {
    if (y < bar.y || y > bar.y + bar.height) continue;
    const distance = Math.max(bar.x - x, x - bar.x - bar.width, 0);
    if (distance > nearest) continue;
    nearest = distance;
    best = bar;
  }
  return best;
}

function select(bar) {
  selected = bar;
  showDetails(bar);
  showLine(bar);
  redraw();
}

// Brings a bar into view without more change than that needs.
function reveal(bar) {
  const row = bar.lane.rows[bar.row];
  const {shift} = bar.lane.run;
  const start = row.starts[bar.at] + shift;
  const end = Math.min(row.ends[bar.last ?? bar.at], bar.lane.run.end) + shift;
  const length = view.end - view.start;
  if (end - start > length || end < view.start + 0.05 * length ||
      start > view.end - 0.05 * length) {
    const half = Math.max(length, (end - start) * 1.2) / 2;
    setView((start + end) / 2 - half, (start + end) / 2 + half);
  }
  if (bar.lane.collapsed && bar.row > 0) {
    bar.lane.collapsed = false;
    relayout();
  }
  const box = boxOf(bar.lane);
  if (box.y < viewport.scrollTop)
    viewport.scrollTop = box.y;
  else if (box.y + box.height > viewport.scrollTop + plot.height)
    viewport.scrollTop = box.y + box.height - plot.height;
}

function selectAndReveal(bar) {
  reveal(bar);
  select(bar);
}

function firstBarInView() {
  for (const bar of drawnBars)
    if (!bar.gap && bar.x >= plot.left) return bar;
  return drawnBars.find((bar) => !bar.gap) ?? null;
}

// The bar before or after the selected one in its row.
function step(by) {
  if (!selected || selected.gap) return select(firstBarInView());
  const row = selected.lane.rows[selected.row];
  const at = (by > 0 ? selected.last ?? selected.at : selected.at) + by;
  if (at < 0 || at >= row.size) return;
  selectAndReveal({lane: selected.lane, row: selected.row, at, last: at});
}

function shownRows() {
  const lanes = boxes.filter((box) => box.kind === "lane");
  return lanes.flatMap(({lane, rows}) => lane.rows.slice(0, rows).map((_, row) => ({lane, row})));
}

// The bar at the same time in the next row that has any, up or down.
function stepRow(by) {
  if (!selected || selected.gap) return select(firstBarInView());
  const rows = shownRows();
  const now = selected.lane.rows[selected.row].starts[selected.at] + selected.lane.run.shift;
  let i = rows.findIndex(({lane, row}) => lane === selected.lane && row === selected.row) + by;
  while (i >= 0 && i < rows.length && rows[i].lane.rows[rows[i].row].size === 0) i += by;
  if (i < 0 || i >= rows.length) return;
  const {lane, row} = rows[i];
  const found = lowerBound(lane.rows[row].ends, now - lane.run.shift);
  const at = Math.min(found, lane.rows[row].size - 1);
  selectAndReveal({lane, row, at, last: at});
}
