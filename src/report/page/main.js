// Starts the page.

const plainNote = document.getElementById("range").textContent;
let restNote = plainNote;  // what stands beside the title while all is seen

// Runs that begin their first measured step at different times can be laid over one another.
function offerAlignment() {
  const button = document.getElementById("align");
  const steps = runs.map((run) => run.firstStep);
  if (runs.length < 2 || steps.some((time) => !time) || new Set(steps).size === 1) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    const last = Math.max(...steps);
    for (const run of runs) run.shift = on ? last - run.firstStep : 0;
    restNote = on ? say("one axis, aligned at the first measured step") : plainNote;
    button.setAttribute("aria-pressed", String(on));
    fit();
    redraw();
  });
}

function start() {
  page.classList.add("scripted");
  makeTabs();
  linkLines();
  listen();
  offerAlignment();
  showTheme();
  fit();
  new ResizeObserver(() => {
    if (viewport.clientWidth !== plot.left + plot.width) relayout();
  }).observe(viewport);
  window.addEventListener("resize", relayout);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
}

start();
