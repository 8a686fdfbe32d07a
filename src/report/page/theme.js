// Colours from the style sheet, for the canvas; and the two buttons that change how the page looks.

const page = document.documentElement;
let theme = readTheme();

function readTheme() {
  const style = getComputedStyle(page);
  const colour = (name) => style.getPropertyValue(name).trim();
  const read = {
    scale: parseFloat(style.fontSize) / 16,
    face: colour("--text-face"),
    mono: colour("--mono-face"),
    styles:
        categories.map(({slug}) => ({fill: colour(`--c-${slug}`), text: colour(`--t-${slug}`)})),
  };
  for (const name
           of ["panel", "head", "line", "lane", "text", "muted", "faint", "accent", "good", "red",
               "grid", "idle-line"])
    read[name] = colour(`--${name}`);
  read.counter = colour("--c-forward");
  read.hatches = categories.map(
      ({hatched}, i) => (hatched ? hatch(read.styles[i].fill, read.red, read.scale) : null));
  read.idle = hatch("transparent", read["idle-line"], read.scale);
  return read;
}

// Lines at 45 degrees, as a pattern that repeats without a seam at the screen's own resolution.
function hatch(ground, line, scale) {
  const ratio = window.devicePixelRatio || 1;
  const size = Math.round(7 * scale * ratio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const context = tile.getContext("2d");
  if (ground !== "transparent") {
    context.fillStyle = ground;
    context.fillRect(0, 0, size, size);
  }
  context.strokeStyle = line;
  context.lineWidth = 1.1 * scale * ratio;
  context.beginPath();
  for (const offset of [-size, 0, size]) {
    context.moveTo(offset - 1, size + 1);
    context.lineTo(offset + size + 1, -1);
  }
  context.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

function isDark() {
  const chosen = page.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  document.getElementById("theme").textContent = isDark() ? say("Light") : say("Dark");
  theme = readTheme();
  relayout();
}

function toggleTheme() {
  page.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
}

// For a room: white, everything half as large again.
function toggleProjector(event) {
  const on = page.dataset.size !== "large";
  if (on) {
    page.dataset.size = "large";
    page.dataset.theme = "light";
  } else {
    delete page.dataset.size;
    delete page.dataset.theme;
  }
  event.currentTarget.setAttribute("aria-pressed", String(on));
  showTheme();
}
