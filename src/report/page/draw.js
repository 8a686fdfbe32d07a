// Painting the lanes and the axis. Everything is drawn anew; only what is in view costs time.

const lanesContext = lanesCanvas.getContext("2d");
const axisContext = axisCanvas.getContext("2d");
const textWidths = new Map();
let frame = 0;
let drawnBars = [];  // what stands where, for picking

function redraw() {
  if (!frame) frame = requestAnimationFrame(draw);
}

function draw() {
  frame = 0;
  drawnBars = [];
  drawAxis();
  drawLanes();
  showRange();
}

function showRange() {
  const full = fullRange();
  const all = view.end - view.start >= full.end - full.start;
  const part =
      say("{} of {}", formatNanos(view.end - view.start), formatNanos(full.end - full.start));
  document.getElementById("range").textContent = all ? restNote : part;
}

const fontOf = (size, face = theme.face, weight = "") =>
    `${weight} ${size * theme.scale}px ${face}`.trim();

function drawAxis() {
  const context = axisContext;
  const height = 34 * theme.scale;
  const label = cursorLabel(context);
  context.clearRect(0, 0, axisCanvas.width, axisCanvas.height);
  context.textBaseline = "alphabetic";
  for (const {x, label: text} of ticks()) {
    context.fillStyle = theme.faint;
    context.fillRect(Math.round(x), height - 6 * theme.scale, 1, 6 * theme.scale);
    context.font = fontOf(11, theme.mono);
    const width = context.measureText(text).width;
    const left = Math.max(x - width / 2, plot.left);
    const covered = label && left < label.left + label.width + 4 && left + width > label.left - 4;
    if (!covered && left + width <= plot.left + plot.width - 2)
      context.fillText(text, left, height - 12 * theme.scale);
  }
  if (!label) return;
  context.fillStyle = theme.accent;
  context.font = label.font;
  context.fillText(label.text, label.left, height - 12 * theme.scale);
  context.fillRect(Math.round(xOf(cursor)), height - 8 * theme.scale, 1, 8 * theme.scale);
}

// The time under the pointer: it takes the place of the ticks' labels beside it.
function cursorLabel(context) {
  if (cursor === null) return null;
  const x = xOf(cursor);
  if (x < plot.left || x > plot.left + plot.width) return null;
  const text = formatTime(cursor, nanosPerPixel(), view.end);
  const font = fontOf(11.5, theme.mono);
  context.font = font;
  const {width} = context.measureText(text);
  const left = Math.min(Math.max(x - width / 2, plot.left), plot.left + plot.width - width - 2);
  return {text, font, left, width};
}

function drawLanes() {
  const context = lanesContext;
  const top = viewport.scrollTop;
  const width = plot.left + plot.width;
  context.save();
  context.clearRect(0, 0, width, plot.height);
  context.translate(0, -top);
  const seen = boxes.filter((box) => box.y < top + plot.height && box.y + box.height > top);
  for (const box of seen)
    if (box.kind === "lane" && box.odd) drawGround(context, box, width, theme.lane);
  drawGrid(context, top);
  for (const box of seen)
    if (box.kind === "strip") drawGround(context, box, width, theme.head);
  context.beginPath();
  context.rect(plot.left, top, plot.width, plot.height);
  context.clip();
  for (const box of seen)
    if (box.kind === "lane") drawLane(context, box);
  drawEnds(context);
  drawSelection(context);
  drawCursor(context, top);
  context.restore();
}

function drawGround(context, box, width, colour) {
  context.fillStyle = colour;
  context.fillRect(0, box.y, width, box.height);
}

function drawGrid(context, top) {
  context.fillStyle = theme.grid;
  for (const {x} of ticks()) context.fillRect(Math.round(x), top, 1, plot.height);
}

function drawLane(context, box) {
  const {lane} = box;
  const shift = lane.run.shift;
  for (const gap of lane.gaps) drawGap(context, box, gap, shift);
  for (let row = 0; row < Math.min(box.rows, lane.rows.length); ++row) {
    const strip = stripOf(box, row);
    eachBar(lane.rows[row], shift, (first, last, start, end) => {
      const left = Math.max(xOf(start), plot.left - 8);
      const lastX = plot.left + plot.width + (end === Infinity ? -1 : 8);
      const right = Math.min(Math.max(xOf(end), left + 1), lastX);
      const bar = {
        lane,
        row,
        at: first,
        last,
        x: left,
        width: right - left,
        y: strip.y,
        height: strip.height
      };
      drawnBars.push(bar);
      drawBar(context, bar);
    });
  }
  if (lane.times) drawCounter(context, box);
}

// Bars of other lines than the lit one step back.
function isDimmed(bar) {
  if (!lit || !lit.runs.includes(bar.lane.run.number)) return false;
  const lines = bar.lane.rows[bar.row].lines;
  for (let i = bar.at; i <= bar.last; ++i)
    if (lines[i] === lit.line) return false;
  return true;
}

function roundedRect(context, x, y, width, height, radius) {
  context.beginPath();
  if (context.roundRect && width > 2 * radius)
    context.roundRect(x, y, width, height, radius);
  else
    context.rect(x, y, width, height);
}

// Open to the right, where it goes on past what is seen.
function tornRect(context, x, y, width, height, depth) {
  context.beginPath();
  context.moveTo(x, y);
  for (let i = 0; i <= 4; ++i) context.lineTo(x + width - (i % 2) * depth, y + (i * height) / 4);
  context.lineTo(x, y + height);
  context.closePath();
}

function drawBar(context, bar) {
  const row = bar.lane.rows[bar.row];
  const category = mainCategory(row, bar.at, bar.last);
  const folded = bar.last > bar.at || row.counts[bar.at] > 0;
  context.globalAlpha = isDimmed(bar) ? 0.22 : folded ? 0.78 : 1;
  context.fillStyle = theme.hatches[category] ?? theme.styles[category].fill;
  if (bar.width < 4) {
    context.fillRect(
        bar.x, bar.y, Math.max(bar.width - (bar.width > 2.5 ? 0.5 : 0), 0.75), bar.height);
  } else {
    if (row.endless[bar.at])
      tornRect(context, bar.x, bar.y, bar.width - 1, bar.height, 5 * theme.scale);
    else
      roundedRect(context, bar.x, bar.y, bar.width - 1, bar.height, 3 * theme.scale);
    context.fill();
    if (theme.hatches[category]) outline(context, theme.red, 1);
    if (!folded) drawLabel(context, bar, row, category);
  }
  context.globalAlpha = 1;
}

function outline(context, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function widthOf(context, text) {
  const key = `${theme.scale} ${text}`;
  let width = textWidths.get(key);
  if (width === undefined) {
    width = context.measureText(text).width;
    textWidths.set(key, width);
  }
  return width;
}

// The first that there is room for, or nothing: text is never cut to fit.
function fittingLabel(context, texts, room) {
  if (room < 12 * theme.scale) return "";
  return texts.find((text) => widthOf(context, text) <= room) ?? "";
}

// What stands in a bar, and a shorter form of it.
function labelsOf(row, at) {
  const id = row.labels[at] || row.names[at];
  const never = say("never ends");
  return row.endless[at] ? [`${textOf(id)}, ${never}`, never] : [textOf(id), shortOf(id)];
}

function drawLabel(context, bar, row, category) {
  if (bar.height < 13 * theme.scale) return;
  const pad = 5 * theme.scale;
  const left = Math.max(bar.x, plot.left);
  const torn = row.endless[bar.at] ? 5 * theme.scale : 0;
  const room = Math.min(bar.x + bar.width, plot.left + plot.width) - left - 2 * pad - torn;
  context.font = fontOf(12);
  const text = fittingLabel(context, labelsOf(row, bar.at), room);
  if (!text) return;
  context.textBaseline = "middle";
  if (theme.hatches[category])
    drawPlate(context, left + pad, bar, widthOf(context, text), theme.styles[category].fill);
  context.fillStyle = theme.styles[category].text;
  context.fillText(text, left + pad, bar.y + bar.height / 2 + 0.5);
}

// A quiet ground under text that stands on a hatch.
function drawPlate(context, x, bar, width, colour) {
  const alpha = context.globalAlpha;
  context.globalAlpha = 0.82 * alpha;
  context.fillStyle = colour;
  context.fillRect(x - 2, bar.y + bar.height / 2 - 8 * theme.scale, width + 4, 16 * theme.scale);
  context.globalAlpha = alpha;
}

// Where the first bar within a gap begins: what waits for another rank, staging, lies within gaps.
function firstBarIn(gap, lane) {
  if (!lane.rows.length) return gap.end;
  const {starts, ends, size} = lane.rows[0];
  const at = lowerBound(ends, gap.start + 1);
  return at < size ? Math.min(Math.max(starts[at], gap.start), gap.end) : gap.end;
}

function drawGap(context, box, gap, shift) {
  if (gap.end + shift <= view.start || gap.start + shift >= view.end) return;
  const x = Math.max(xOf(gap.start + shift), plot.left - 1);
  const right = Math.min(xOf(gap.end + shift), plot.left + plot.width + 1);
  if (right - x < 3) return;
  const strip = stripOf(box, 0);
  context.fillStyle = theme.idle;
  context.fillRect(x + 0.5, strip.y, right - x - 1.5, strip.height);
  drawnBars.push({gap, lane: box.lane, x, width: right - x, y: strip.y, height: strip.height});
  context.font = fontOf(12);
  const free = Math.min(right, xOf(firstBarIn(gap, box.lane) + shift));
  const room = free - Math.max(x, plot.left) - 14 * theme.scale;
  const text = [textOf(gap.text), textOf(gap.text).split(":")[0]].find(
      (words) => widthOf(context, words) <= room);
  if (!text || strip.height < 13 * theme.scale) return;
  const left = Math.max(x, plot.left) + 7 * theme.scale;
  drawPlate(context, left, strip, widthOf(context, text), box.odd ? theme.lane : theme.panel);
  context.fillStyle = theme.text;
  context.textBaseline = "middle";
  context.fillText(text, left, strip.y + strip.height / 2 + 0.5);
}

// A value holds until the next sample. The full height is what `lane.top` says beside the name.
function drawCounter(context, box) {
  const {times, values, run, top} = box.lane;
  const least = values.reduce((a, b) => Math.min(a, b), 0);
  const strip = stripOf(box, 0);
  const yOf = (value) =>
      strip.y + strip.height * (1 - (value - least) / Math.max(top - least, 1e-300));
  const end = xOf(run.end + run.shift);
  context.beginPath();
  context.moveTo(xOf(times[0] + run.shift), yOf(values[0]));
  for (let i = 1; i < times.length; ++i) {
    const x = xOf(times[i] + run.shift);
    context.lineTo(x, yOf(values[i - 1]));
    context.lineTo(x, yOf(values[i]));
  }
  context.lineTo(end, yOf(values[values.length - 1]));
  outline(context, theme.counter, 1.5 * theme.scale);
  context.lineTo(end, yOf(0));
  context.lineTo(xOf(times[0] + run.shift), yOf(0));
  context.closePath();
  context.globalAlpha = 0.22;
  context.fillStyle = theme.counter;
  context.fill();
  context.globalAlpha = 1;
}
