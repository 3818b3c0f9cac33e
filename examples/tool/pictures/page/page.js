// The page: reads the data, draws, and joins list, search, switches and keys to the drawing.

function start() {
  const data = JSON.parse(document.getElementById("graph").textContent);
  const byId = (id) => document.getElementById(id);
  const state = { chosen: null, violations: true, cameFrom: null };

  const details = makeDetails(data, choose);
  const drawing = makeDrawing(data, choose);

  function choose(i, origin) {
    if (i !== null && state.chosen === null) state.cameFrom = document.activeElement;
    state.chosen = i;
    details.show(i);
    drawing.choose(i, state.violations);
    for (const button of byId("list").querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    if (i === null) {
      if (origin !== "canvas" && state.cameFrom?.isConnected) state.cameFrom.focus({ preventScroll: true });
      return;
    }
    const button = listButtons[i];
    button.setAttribute("aria-current", "true");
    if (origin !== "list") button.scrollIntoView({ block: "nearest" });
    const narrow = matchMedia("(max-width: 760px)").matches;
    drawing.show(i, narrow ? 0 : details.width(), state.violations);
    if (origin === "details") byId("details").focus({ preventScroll: true });
  }

  function setViolations(on) {
    state.violations = on;
    drawing.markViolations(on);
    drawing.choose(state.chosen, on);
    document.body.classList.toggle("unmarked", !on);
  }

  // The list offers everything the drawing does, to the keyboard and to screen readers.
  const listButtons = data.items.map((item, i) => element("button", { type: "button", class: "node", onclick: () => choose(i, "list") },
    glyphOf(data, item), element("bdi", { text: item.name }),
    (item.violates || item.violating) && element("em", { text: item.violating ? item.violating.toLocaleString("en") : "", title: "violates Assumption 1", "aria-label": "violates Assumption 1" }),
    element("small", { text: item.look === "reward" && data.view === "nodes" ? "" : item.caption })));
  const listSections = data.columns.map((name, column) => {
    const buttons = listButtons.filter((_, i) => data.items[i].column === column);
    return element("section", {}, element("h2", { text: name }), ...buttons);
  });
  byId("list").append(...data.messages.length ? details.messagesOf(data.messages) : [], ...listSections);
  byId("list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const visible = listButtons.filter((button) => !button.hidden);
    const at = visible.indexOf(document.activeElement);
    visible[Math.max(0, Math.min(visible.length - 1, at + step))]?.focus();
    event.preventDefault();
  });

  function search() {
    const wanted = byId("search").value.trim().toLocaleLowerCase();
    const found = [];
    data.items.forEach((item, i) => {
      const names = [item.name, ...(item.examples ?? [])];
      const hit = names.some((each) => each.toLocaleLowerCase().includes(wanted));
      listButtons[i].hidden = !hit;
      if (hit && wanted) found.push(i);
    });
    for (const part of listSections) part.hidden = [...part.querySelectorAll("button")].every((button) => button.hidden);
    byId("found").textContent = wanted ? (found.length ? `${found.length} found, Enter shows the first` : "nothing by that name") : "";
    drawing.match(found);
    return found;
  }
  byId("search").addEventListener("input", search);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      const [first] = search();
      if (first !== undefined) choose(first, "search");
    }
    if (event.key === "ArrowDown") {
      listButtons.find((button) => !button.hidden)?.focus();
      event.preventDefault();
    }
  });

  byId("violations").addEventListener("change", (event) => setViolations(event.target.checked));
  byId("zoom-in").addEventListener("click", () => drawing.zoomBy(1.3));
  byId("zoom-out").addEventListener("click", () => drawing.zoomBy(1 / 1.3));
  byId("fit").addEventListener("click", () => drawing.fit());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (byId("search").value) {
        byId("search").value = "";
        search();
      }
      if (state.chosen !== null) choose(null, "key");
      return;
    }
    if (event.target.matches("input[type=search]")) return;
    const act = { "/": () => byId("search").focus(), "+": () => drawing.zoomBy(1.3), "-": () => drawing.zoomBy(1 / 1.3), 0: () => drawing.fit() }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  });

  // Columns: faint bands behind the drawing, and their names in a strip above it that stays in sight.
  const bandDivs = drawing.columns.map((_, i) => element("div", { class: i % 2 ? "odd" : "even" }));
  const nameSpans = data.columns.map((name) => element("span", { text: name }));
  byId("bands").append(...bandDivs);
  byId("level-names").append(...nameSpans);
  function followViewport() {
    const zoom = drawing.cy.zoom(), pan = drawing.cy.pan();
    let free = -Infinity;
    drawing.columns.forEach(({ left, right, x }, i) => {
      bandDivs[i].style.left = `${pan.x + zoom * (left - 14)}px`;
      bandDivs[i].style.width = `${zoom * (right - left + 28)}px`;
      const at = pan.x + zoom * x;
      nameSpans[i].hidden = at < free;
      nameSpans[i].style.left = `${at}px`;
      if (at >= free) free = at + 64;
    });
  }
  drawing.cy.on("viewport resize", followViewport);

  const violating = data.items.filter((item) => item.violates || item.violating).length;
  byId("counts").textContent = document.title = data.counts;
  byId("verdict").append(
    element("span", { class: data.admissible ? "good" : "bad", text: data.admissible ? "admissible" : "not admissible" }),
    data.assumption && element("span", { class: data.assumption === "holds" ? "good" : "bad",
      text: data.assumption === "holds" ? "Assumption 1 holds" : `Assumption 1 violated by ${data.violating.toLocaleString("en")}` }));
  byId("violations").disabled = violating === 0;
  if (violating === 0) byId("violations").checked = false;
  byId("remark").hidden = !data.remark;
  byId("remark").textContent = data.remark;

  const looks = new Set(data.items.map((item) => item.look));
  const entries = [
    looks.has("input") && [glyph("input"), "input"],
    looks.has("deterministic") && [glyph("deterministic"), "deterministic"],
    looks.has("reward") && [glyph("reward"), "reward"],
    ...data.marks.map((mark) => [glyph("stochastic", mark.tone), mark.name]),
    data.items.some((item) => item.look === "stochastic" && item.marks.length === 0) && [glyph("stochastic"), "not credited"],
    data.links.some((link) => link.sparse) && [glyph("sparse"), "sparse"],
    violating > 0 && [glyph("violating"), "violates Assumption 1"],
    data.links.some((link) => link.on_edge) && [glyph("edge"), "the edge"],
    data.links.some((link) => link.on_route) && [glyph("route"), "the longer route"],
  ].filter(Boolean);
  byId("legend").append(...entries.map(([picture, text]) => element("li", {}, picture, element("span", { text }))));

  setViolations(violating > 0);
  if (data.items.length > 0) byId("wait").remove();
  else byId("wait").textContent = "There is nothing to draw.";
  document.querySelector("footer").hidden = entries.length === 0;
  drawing.open();
  followViewport();
  window.hindsight = { drawing: drawing.cy }; // for curious people at the console, and for the test
}
// A large graph takes seconds to arrange; the page that says so is painted first.
requestAnimationFrame(() => setTimeout(start));
