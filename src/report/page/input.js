// The mouse, fingers and keys on the timelines.

const pointers = new Map();  // of those that are down, where they were last
let moved = 0;               // pixels since the press

const inPlot = (event) => event.offsetX >= plot.left;

function barUnder(event) {
  return inPlot(event) ? barAt(event.offsetX, event.offsetY + viewport.scrollTop) : null;
}

function onWheel(event) {
  const x = event.clientX - lanesCanvas.getBoundingClientRect().left;
  if (x < plot.left) return;
  const pixels = event.deltaMode === 0 ? 1 : 16;
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  const changed = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY) ?
      pan(sideways * pixels * nanosPerPixel()) :
      zoomAt(timeAt(x), Math.min(Math.max(1.0018 ** (event.deltaY * pixels), 0.2), 5));
  // At its limits the timeline lets the page scroll.
  if (changed) event.preventDefault();
}

function onDown(event) {
  if (event.button !== 0) return;
  pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
  lanesCanvas.setPointerCapture(event.pointerId);
  moved = 0;
  showTip(null);
}

function onMove(event) {
  const before = pointers.get(event.pointerId);
  if (!before) return onHover(event);
  const now = {x: event.offsetX, y: event.offsetY};
  moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
  if (pointers.size === 2)
    pinch(event.pointerId, now);
  else if (moved > 3)
    drag(before, now, event.pointerType);
  pointers.set(event.pointerId, now);
}

function drag(before, now, kind) {
  lanesCanvas.classList.add("dragging");
  pan((before.x - now.x) * nanosPerPixel());
  if (kind === "mouse") viewport.scrollTop += before.y - now.y;
}

// Two fingers: the times under them stay under them.
function pinch(id, now) {
  const other = [...pointers].find(([one]) => one !== id)[1];
  const before = pointers.get(id);
  const a = timeAt(before.x);
  const b = timeAt(other.x);
  const spread = now.x - other.x;
  if (Math.abs(spread) < 8) return;
  const scale = (a - b) / spread;
  setView(b - (other.x - plot.left) * scale, b + (plot.left + plot.width - other.x) * scale);
}

function onHover(event) {
  const bar = barUnder(event);
  if (!sameBar(bar, hovered) || bar?.gap !== hovered?.gap) hovered = bar;
  cursor = inPlot(event) ? timeAt(event.offsetX) : null;
  lanesCanvas.classList.toggle("over", Boolean(bar));
  showTip(bar, event.clientX, event.clientY);
  redraw();
}

function onUp(event) {
  if (!pointers.delete(event.pointerId)) return;
  lanesCanvas.classList.remove("dragging");
  if (moved <= 3) select(barUnder(event));
}

function onLeave() {
  hovered = null;
  cursor = null;
  showTip(null);
  redraw();
}

const keys = {
  "+": () => zoomAt((view.start + view.end) / 2, 0.7),
  "=": () => zoomAt((view.start + view.end) / 2, 0.7),
  "-": () => zoomAt((view.start + view.end) / 2, 1 / 0.7),
  f: fit,
  ArrowLeft: () => pan(-(view.end - view.start) / 8),
  ArrowRight: () => pan((view.end - view.start) / 8),
  ArrowUp: () => stepRow(-1),
  ArrowDown: () => stepRow(1),
  ",": () => step(-1),
  ".": () => step(1),
  Escape: () => select(null),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (!act) return;
  act();
  event.preventDefault();
}

function listen() {
  viewport.addEventListener("wheel", onWheel, {passive: false});
  viewport.addEventListener("scroll", redraw);
  lanesCanvas.addEventListener("pointerdown", onDown);
  lanesCanvas.addEventListener("pointermove", onMove);
  lanesCanvas.addEventListener("pointerup", onUp);
  lanesCanvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  lanesCanvas.addEventListener("pointerleave", onLeave);
  lanesCanvas.addEventListener("dblclick", fit);
  lanesCanvas.addEventListener("keydown", onKey);
  document.getElementById("zoom-in").addEventListener("click", keys["+"]);
  document.getElementById("zoom-out").addEventListener("click", keys["-"]);
  document.getElementById("fit").addEventListener("click", fit);
  document.getElementById("theme").addEventListener("click", toggleTheme);
  document.getElementById("projector").addEventListener("click", toggleProjector);
}
