// The code beside the timelines: a side at a time, its lines and their spans lighting each other.

const listings = [...document.querySelectorAll(".listing")].map(
    (panel) => ({
      panel,
      runs: panel.dataset.runs.split(" ").map(Number),
      lines: [...panel.querySelectorAll("li")],
    }));

function showListing(chosen) {
  for (const listing of listings) {
    listing.panel.hidden = listing !== chosen;
    listing.tab?.setAttribute("aria-selected", String(listing === chosen));
    if (listing.tab) listing.tab.tabIndex = listing === chosen ? 0 : -1;
  }
}

function makeTabs() {
  const tabs = document.getElementById("tabs");
  if (!tabs || listings.length < 2) return;
  tabs.setAttribute("role", "tablist");
  tabs.setAttribute("aria-label", say("Side"));
  for (const listing of listings) {
    const tab = element("button", "", runs[listing.runs[0]].label);
    tab.type = "button";
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", listing.panel.id);
    listing.panel.setAttribute("role", "tabpanel");
    tab.addEventListener("click", () => showListing(listing));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const next = listings[(listings.indexOf(listing) + 1) % listings.length];
      showListing(next);
      next.tab.focus();
    });
    listing.tab = tab;
    tabs.append(tab);
  }
  showListing(listings[0]);
}

// Lines that spans cite can be pointed at.
function linkLines() {
  for (const listing of listings) {
    const cited = new Set();
    const lanes = listing.runs.flatMap((number) => runs[number].lanes);
    for (const row of lanes.flatMap((lane) => lane.rows))
      row.lines.forEach((line) => cited.add(line));
    listing.lines.forEach((line, i) => {
      if (cited.has(i + 1)) linkLine(listing, line, i + 1);
    });
  }
}

function linkLine(listing, line, number) {
  const light = (on) => {
    lit = on ? {runs: listing.runs, line: number} : null;
    redraw();
  };
  line.classList.add("linked");
  line.tabIndex = 0;
  line.setAttribute("aria-label", `${say("line")} ${number}: ${line.textContent.trim()}`);
  line.addEventListener("mouseenter", () => light(true));
  line.addEventListener("mouseleave", () => light(false));
  line.addEventListener("focus", () => light(true));
  line.addEventListener("blur", () => light(false));
}

// Lights the line of a selected bar.
function showLine(bar) {
  for (const {lines} of listings)
    for (const line of lines) line.classList.remove("lit");
  if (!bar || bar.gap) return;
  const listing = listings.find((one) => one.runs.includes(bar.lane.run.number));
  const line = listing?.lines[bar.lane.rows[bar.row].lines[bar.at] - 1];
  if (!line) return;
  showListing(listing);
  line.classList.add("lit");
  const {panel} = listing;
  const above = line.offsetTop < panel.scrollTop;
  const below = line.offsetTop + line.offsetHeight > panel.scrollTop + panel.clientHeight;
  if (above || below) panel.scrollTop = line.offsetTop - panel.clientHeight / 3;
}
