// What is drawn over the lanes: where a run ends, what is selected and its cause, the pointer.

// How many steps a run marks; several marks may be one bar.
function stepsOf(run) {
  let steps = 0;
  for (const lane of run.lanes.filter((one) => one.steps))
    for (const row of lane.rows)
      for (const count of row.counts) steps += Math.max(count, 1);
  return steps;
}

// Where the earlier of two runs is done, and by how much; of fewer steps, or before one that never
// ends, that is no merit.
function drawEnds(context) {
  const some = runs.filter((run) => run.bars > 0 && !run.endless);
  if (some.length !== 2 || stepsOf(some[0]) !== stepsOf(some[1])) return;
  const ends = some.map((run) => run.end + run.shift);
  const first = ends[0] < ends[1] ? 0 : 1;
  const ahead = ends[1 - first] - ends[first];
  const x = xOf(ends[first]) + 2;
  if (ahead < 0.01 * (view.end - view.start) || x < plot.left) return;
  const own = boxes.filter((box) => box.lane?.run === some[first]);
  const top = own[0].y;
  const last = own[own.length - 1];
  context.fillStyle = theme.good;
  context.fillRect(Math.round(x), top, 2, last.y + last.height - top);
  context.font = fontOf(12);
  context.textBaseline = "middle";
  const lines = [say("{} done", some[first].label), say("{} sooner", formatNanos(ahead))];
  if (x + widthOf(context, lines[1]) + 10 > plot.left + plot.width) return;
  lines.forEach((text, i) => context.fillText(text, x + 8, top + (14 + 16 * i) * theme.scale));
}

const sameBar = (a, b) => a && b && a.lane === b.lane && a.row === b.row && a.at === b.at;

// Where a bar stands now; null where its row is not shown.
function placeOf(bar) {
  const box = boxOf(bar.lane);
  if (!box || bar.row >= box.rows) return null;
  const row = bar.lane.rows[bar.row];
  const shift = bar.lane.run.shift;
  const strip = stripOf(box, bar.row);
  const x = xOf(row.starts[bar.at] + shift);
  const right = Math.min(xOf(row.ends[bar.last ?? bar.at] + shift), plot.left + plot.width + 8);
  return {x, width: Math.max(right - x, 2), y: strip.y, height: strip.height};
}

function drawSelection(context) {
  for (const [bar, colour, width] of [
           [hovered, theme.text, 1], [selected, theme.accent, 2 * theme.scale]]) {
    const place = bar && !bar.gap && placeOf(bar);
    if (!place) continue;
    roundedRect(
        context, place.x - 0.5, place.y - 0.5, place.width, place.height + 1, 3 * theme.scale);
    outline(context, colour, width);
  }
  const cause = selected && !selected.gap && causeOf(selected);
  if (cause) drawArrow(context, cause, selected);
}

function drawArrow(context, from, to) {
  const a = placeOf(from);
  const b = placeOf(to);
  if (!a || !b) return;
  const x0 = Math.min(Math.max(b.x, a.x), a.x + a.width);
  const y0 = a.y + a.height / 2;
  const y1 = b.y + b.height / 2;
  const reach = Math.max(24, Math.abs(b.x - x0) / 2);
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + reach, y0, b.x - reach, y1, b.x - 2, y1);
  outline(context, theme.accent, 1.5 * theme.scale);
  const size = 5 * theme.scale;
  context.beginPath();
  context.moveTo(b.x, y1);
  context.lineTo(b.x - 1.6 * size, y1 - size);
  context.lineTo(b.x - 1.6 * size, y1 + size);
  context.fillStyle = theme.accent;
  context.fill();
}

function drawCursor(context, top) {
  if (cursor === null) return;
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.65;
  context.fillRect(Math.round(xOf(cursor)), top, 1, plot.height);
  context.globalAlpha = 1;
}
