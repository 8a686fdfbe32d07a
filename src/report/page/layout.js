// Where things stand: strips, headings and lanes from top to bottom, with their names as elements
// over the canvas, so that no name is ever cut.

const viewport = document.getElementById("viewport");
const stage = document.getElementById("stage");
const labels = document.getElementById("labels");
const lanesCanvas = document.getElementById("lanes");
const axisCanvas = document.getElementById("axis");

const plot = {
  left: 0,
  width: 1,
  height: 0
};
let stretch = 1;  // of the lanes' height
let boxes = [];  // { kind: "strip" | "heading" | "lane" | "note" | "space", y, height, ... }

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function addStrip(run) {
  const strip = element("div", "strip");
  const figure = document.querySelectorAll(".figure")[run.number];
  const mark = figure?.querySelector(".side-mark");
  if (mark) strip.append(mark.cloneNode(true));
  for (const code of figure?.querySelectorAll("code") ?? []) strip.append(code.cloneNode(true));
  const total = figure?.querySelector("strong");
  if (total)
    strip.append(element(
        "span", "total", `${total.textContent} ${total.nextElementSibling?.textContent ?? ""}`));
  boxes.push({kind: "strip", run, element: strip, least: 30 * theme.scale});
}

function addHeading(text) {
  boxes.push({kind: "heading", element: element("div", "heading", text), least: 20 * theme.scale});
}

// Of counters below it how far they went, and what their lane's full height stands for.
function plainName(lane) {
  const name = element("div", "lane-name", lane.name);
  if (lane.times) name.append(element("span", "scale", counterWords(lane)));
  return name;
}

function laneName(lane) {
  if (lane.rows.length < 2) return plainName(lane);
  const button = element("button", "lane-name", lane.name);
  button.type = "button";
  button.setAttribute("aria-expanded", String(!lane.collapsed));
  button.title = lane.collapsed ? say("Show its rows") : say("Show one row");
  button.addEventListener("click", () => {
    lane.collapsed = !lane.collapsed;
    relayout();
    boxOf(lane).element.focus();  // the button is a new one
  });
  return button;
}

// Many rows get thinner ones, so that one lane does not fill the screen; few lanes get higher ones.
function rowHeight(rows) {
  if (rows === 1) return 32 * theme.scale * stretch;
  return Math.max(20 * Math.min(1, 12 / rows), 7) * theme.scale * stretch;
}

function addLane(lane, odd) {
  const rows = lane.collapsed ? 1 : Math.max(lane.rows.length, 1);
  const height = rowHeight(rows);
  const least = height * rows + (rows > 1 ? 6 * theme.scale : 0);
  boxes.push({kind: "lane", lane, odd, rows, rowHeight: height, element: laneName(lane), least});
}

// One process and one GPU need no headings: their lanes name themselves.
function needsHeadings(run) {
  return new Set(run.lanes.map((lane) => lane.group).filter(Boolean)).size > 2;
}

function addRun(run) {
  if (runs.length > 1) addStrip(run);
  const headings = needsHeadings(run);
  const groups = new Map();
  for (const lane of run.lanes) {
    if (!groups.has(lane.group)) groups.set(lane.group, []);
    groups.get(lane.group).push(lane);
  }
  let odd = false;
  for (const [group, lanes] of groups) {
    if (headings) addHeading(group || say("other"));
    for (const lane of lanes) addLane(lane, (odd = !odd));
  }
  if (run.lanes.length === 0)
    boxes.push({
      kind: "note",
      element: element("div", "heading", say("There is nothing in this trace.")),
      least: 32 * theme.scale
    });
  boxes.push({kind: "space", least: 10 * theme.scale});
}

function placeBoxes() {
  labels.replaceChildren(...boxes.filter((box) => box.element).map((box) => box.element));
  const heights = boxes.map((box) => Math.max(box.least, box.element?.offsetHeight ?? 0));
  let y = 0;
  boxes.forEach((box, i) => {
    box.y = y;
    box.height = Math.ceil(heights[i]);
    y += box.height;
    if (!box.element) return;
    const inside = box.kind === "lane" ? (box.height - box.element.offsetHeight) / 2 : 0;
    box.element.style.top = `${box.y + inside}px`;
  });
  return y;
}

function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
}

function makeBoxes() {
  boxes = [];
  for (const run of runs) addRun(run);
}

// Up to half as high again where there is room for it.
function stretchFor() {
  const height = boxes.reduce((sum, box) => sum + box.least, 0);
  return Math.min(Math.max((400 * theme.scale) / height, 1), 1.5);
}

function relayout() {
  stretch = 1;
  makeBoxes();
  stretch = stretchFor();
  makeBoxes();
  const height = placeBoxes();
  const room = Math.max(280, Math.round(window.innerHeight * 0.78));
  viewport.style.height = `${Math.min(height, room)}px`;
  stage.style.height = `${height}px`;
  const width = viewport.clientWidth;
  plot.left = labels.querySelector(".lane-name")?.offsetWidth ?? 0;
  plot.width = Math.max(1, width - plot.left);
  plot.height = Math.min(height, room);
  sizeCanvas(lanesCanvas, width, plot.height);
  sizeCanvas(axisCanvas, width, 34 * theme.scale);
  redraw();
}

// The strip of one row of a lane's box: where its bars stand.
function stripOf(box, row) {
  if (box.rows === 1) {
    const inset = Math.max(1, Math.round(box.rowHeight * 0.07));
    return {y: box.y + (box.height - box.rowHeight) / 2 + inset, height: box.rowHeight - 2 * inset};
  }
  const spare = box.height - box.rowHeight * box.rows;
  return {y: box.y + Math.round(spare / 2) + box.rowHeight * row, height: box.rowHeight - 1};
}

const boxOf = (lane) => boxes.find((box) => box.lane === lane);
