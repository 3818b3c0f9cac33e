// The drawing: shapes, colours, and what is emphasised.

const wordyUpTo = 60; // items; beyond, a box shows its name alone
const roomyUpTo = 24; // items; beyond, estimators are told by colour alone

function shortened(text, most) {
  const clean = text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ");
  const characters = Array.from(clean);
  return characters.length <= most ? clean : characters.slice(0, most - 1).join("") + "…";
}

function labelOf(data, item, wordy) {
  if (data.view === "groups")
    return [shortened(item.name, 26), item.caption, item.violating ? `${item.violating} violate` : ""].filter(Boolean).join("\n");
  if (!wordy) return shortened(item.name, 18) + (item.units > 1 ? ` ×${item.units}` : "");
  const estimators = data.items.length <= roomyUpTo ? item.marks.map((mark) => data.marks[mark].name).join(", ") : "";
  const caption = item.look === "reward" ? "" : item.caption;
  return [shortened(item.name, 26), shortened(caption, 26), shortened(estimators, 26)].filter(Boolean).join("\n");
}

function boxOf(label, item, wordy) {
  const size = wordy ? 13 : 12, lines = label.split("\n");
  boxOf.pen ??= document.createElement("canvas").getContext("2d");
  boxOf.pen.font = `${size}px ${fontFamily}`;
  const text = Math.max(...lines.map((line) => boxOf.pen.measureText(line).width));
  const slanted = item.look === "reward" || item.look === "input";
  return {
    column: item.column,
    width: Math.ceil(Math.max(wordy ? 56 : 30, text + (wordy ? 26 : 14) + (slanted ? 22 : 0))),
    height: Math.ceil(lines.length * size * 1.3 + (wordy ? 16 : 6)),
  };
}

const fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The looks of everything, from the colours of the page's style sheet as they are now. */
function appearance(data, wordy) {
  const fillOf = (node) => {
    const tones = [...new Set(node.data("marks").map((mark) => data.marks[mark].tone))];
    return tones.length ? tones.map((tone) => colour(`tone-${tone}-fill`)) : [colour("surface")];
  };
  const lineOf = (node) => {
    const marks = node.data("marks");
    return marks.length ? colour(`tone-${data.marks[marks[0]].tone}-line`) : colour("neutral-line");
  };
  const red = colour("red"), orange = colour("orange"), accent = colour("accent");
  return [
    { selector: "node", style: {
      label: "data(label)", width: "data(width)", height: "data(height)", shape: "round-rectangle",
      "font-family": fontFamily, "font-size": wordy ? 13 : 12, "line-height": 1.3, color: colour("ink"),
      "text-valign": "center", "text-halign": "center", "text-wrap": "wrap", "text-max-width": 1000,
      "min-zoomed-font-size": 5, "border-width": wordy ? 1.5 : 1.2, "border-color": lineOf,
      "background-color": (node) => fillOf(node)[0], "overlay-opacity": 0, "outline-width": 0, "outline-offset": 2.5,
    } },
    // Several estimators share a box in stripes with sharp borders.
    { selector: "node.several", style: {
      "background-fill": "linear-gradient", "background-gradient-direction": "to-right",
      "background-gradient-stop-colors": (node) => fillOf(node).flatMap((fill) => [fill, fill]).join(" "),
      "background-gradient-stop-positions": (node) => {
        const count = fillOf(node).length;
        return fillOf(node).flatMap((_, i) => [`${(100 * i) / count}%`, `${(100 * (i + 1)) / count}%`]).join(" ");
      },
    } },
    { selector: "node.input", style: { shape: "tag", "background-color": colour("given"), "border-color": colour("neutral-line"), "text-margin-x": -5 } },
    { selector: "node.deterministic", style: { shape: "rectangle", "background-color": colour("surface"), "border-color": colour("neutral-line"), "border-style": "double", "border-width": 3.5 } },
    { selector: "node.reward", style: { shape: "hexagon", "background-color": colour("ink"), "border-color": colour("ink"), color: colour("paper") } },
    { selector: "edge", style: {
      width: "data(width)", "line-color": colour("edge"), "target-arrow-color": colour("edge"), "target-arrow-shape": "triangle",
      "arrow-scale": wordy ? 0.9 : 0.6, "curve-style": "unbundled-bezier", "edge-distances": "endpoints",
      "control-point-distances": "data(distances)", "control-point-weights": "data(weights)",
      "source-endpoint": "50% 0%", "target-endpoint": "-50% 0%", "overlay-opacity": 0,
    } },
    { selector: "edge.sparse", style: { "line-style": "dashed", "line-dash-pattern": [5, 4] } },
    { selector: ".violating", style: { "outline-width": 2.5, "outline-color": red } },
    { selector: "edge.on-route", style: { "line-color": orange, "target-arrow-color": orange, width: wordy ? 2 : 1.4, "z-index": 5 } },
    { selector: "edge.on-edge", style: { "line-color": red, "target-arrow-color": red, width: wordy ? 2.5 : 1.8, "z-index": 6 } },
    { selector: ".dim", style: { opacity: 0.16 } },
    { selector: "edge.near", style: { "line-color": colour("soft"), "target-arrow-color": colour("soft"), width: wordy ? 1.8 : 1.3 } },
    { selector: "edge.route", style: { "line-color": orange, "target-arrow-color": orange, width: wordy ? 3 : 2.4, "z-index": 8 } },
    { selector: "edge.edge", style: { "line-color": red, "target-arrow-color": red, width: wordy ? 3.6 : 3, "z-index": 9 } },
    { selector: "node.meets", style: { "outline-width": 3, "outline-color": orange, "outline-style": "dashed" } },
    { selector: "node.chosen", style: { "outline-width": 4, "outline-color": accent, "z-index": 10 } },
    { selector: "node.chosen.violating", style: { "outline-color": red } },
    { selector: "node.match", style: { "outline-width": 3, "outline-color": accent } },
  ];
}

/** Draws the graph and returns what the page may ask of the drawing. */
function makeDrawing(data, whenChosen) {
  const wordy = data.view === "groups" || data.items.length <= wordyUpTo;
  const labels = data.items.map((item) => labelOf(data, item, wordy));
  const boxes = data.items.map((item, i) => boxOf(labels[i], item, wordy));
  const roomy = data.view === "nodes" && data.items.length <= roomyUpTo;
  const gaps = { node: wordy ? 18 : 6, column: roomy ? 90 : 56 };
  const { centres, bends, columns } = arrange(boxes, data.links, data.columns.length, gaps);
  const side = (i, sign) => ({ x: centres[i].x + (sign * boxes[i].width) / 2, y: centres[i].y });
  const elements = [
    ...data.items.map((item, i) => ({
      group: "nodes", data: { id: `n${i}`, number: i, label: labels[i], marks: item.marks, width: boxes[i].width, height: boxes[i].height },
      position: centres[i], classes: [item.look, new Set(item.marks.map((mark) => data.marks[mark].tone)).size > 1 ? "several" : ""],
    })),
    ...data.links.map((link, i) => ({
      group: "edges",
      data: { id: `e${i}`, source: `n${link.from}`, target: `n${link.to}`, ...curve(side(link.from, 1), side(link.to, -1), bends[i]),
        width: data.view === "groups" ? 1 + Math.log10(link.edges) : wordy ? 1.3 : 0.8 },
      classes: [link.sparse ? "sparse" : ""],
    })),
  ];
  const cy = cytoscape({
    container: document.getElementById("canvas"), elements, layout: { name: "preset" }, style: appearance(data, wordy),
    minZoom: 0.03, maxZoom: 3, autoungrabify: true, autounselectify: true, boxSelectionEnabled: false,
    hideEdgesOnViewport: data.links.length > 2000,
  });
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const move = (to) => (calm.matches ? cy.viewport(to) : cy.animate({ ...to, duration: 220, easing: "ease-out" }));
  cy.on("tap", "node", (event) => whenChosen(event.target.data("number"), "canvas"));
  cy.on("tap", (event) => event.target === cy && whenChosen(null, "canvas"));
  cy.on("mouseover", "node", () => (cy.container().style.cursor = "pointer"));
  cy.on("mouseout", "node", () => (cy.container().style.cursor = ""));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(appearance(data, wordy)));

  /** The part of the drawing below the names of the levels and beside what covers it on the right. */
  const free = (covered) => {
    cy.resize();
    const { width, height } = cy.container().getBoundingClientRect();
    return { left: 24, top: 52, width: width - covered - 48, height: height - 76 };
  };
  const framed = (box, area, zoom) => ({ zoom, pan: {
    x: area.left + area.width / 2 - (zoom * (box.x1 + box.x2)) / 2, y: area.top + area.height / 2 - (zoom * (box.y1 + box.y2)) / 2 } });
  const node = (i) => cy.getElementById(`n${i}`);
  const between = (route) => route.slice(1).map((to, i) => data.links.findIndex((l) => l.from === route[i] && l.to === to));
  return {
    cy, columns,
    fit() {
      const area = free(0), box = cy.elements().boundingBox({ includeOverlays: false });
      if (data.items.length > 0 && area.width > 0) cy.viewport(framed(box, area, Math.min(1.4, area.width / box.w, area.height / box.h)));
    },
    /** Everything, or the beginning of it where everything would be too small to read. */
    open() {
      this.fit();
      const readable = wordy ? 0.46 : 0.4, area = free(0), box = cy.elements().boundingBox({ includeOverlays: false });
      if (data.items.length === 0 || cy.zoom() >= readable) return;
      const shown = { ...box, w: Math.min(box.w, area.width / 0.8), h: Math.min(box.h, area.height / 0.8) };
      shown.x2 = shown.x1 + shown.w;
      if (shown.h < box.h) [shown.y1, shown.y2] = [(box.y1 + box.y2 - shown.h) / 2, (box.y1 + box.y2 + shown.h) / 2];
      cy.viewport(framed(shown, area, 0.8));
    },
    zoomBy(factor) {
      const { width, height } = cy.container().getBoundingClientRect();
      cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: width / 2, y: height / 2 } });
    },
    /** Brings a node, and the routes that prove its violation, to where nothing covers them. */
    show(i, covered, withProof) {
      const proof = withProof ? data.items[i].proof : null, area = free(covered);
      const steps = proof ? [i, ...proof.edge, ...proof.route] : [i];
      const group = steps.reduce((all, step) => all.union(node(step)), cy.collection());
      const now = group.renderedBoundingBox({ includeOverlays: false }), readable = cy.zoom() >= 0.55;
      if (readable && now.x1 > area.left && now.x2 < area.left + area.width && now.y1 > area.top && now.y2 < area.top + area.height) return;
      const box = group.boundingBox({ includeOverlays: false });
      move(framed(box, area, Math.min(readable ? cy.zoom() : 0.9, area.width / box.w, area.height / box.h)));
    },
    markViolations(on) {
      cy.batch(() => {
        data.items.forEach((item, i) => node(i).toggleClass("violating", on && Boolean(item.violates || item.violating)));
        data.links.forEach((link, i) => cy.getElementById(`e${i}`).toggleClass("on-edge", on && Boolean(link.on_edge))
          .toggleClass("on-route", on && Boolean(link.on_route)));
      });
    },
    choose(i, showProof) {
      cy.batch(() => {
        cy.elements().removeClass("dim chosen near meets edge route");
        if (i === null) return;
        const chosen = node(i), proof = showProof ? data.items[i].proof : null;
        let kept = chosen.closedNeighborhood();
        chosen.addClass("chosen");
        if (proof) {
          for (const [route, name] of [[proof.route, "route"], [proof.edge, "edge"]]) {
            for (const link of between(route)) kept = kept.union(cy.getElementById(`e${link}`).addClass(name));
            for (const step of route) kept = kept.union(node(step));
          }
          node(proof.child).addClass("meets");
        } else {
          chosen.connectedEdges().addClass("near");
        }
        cy.elements().difference(kept).addClass("dim");
      });
    },
    match(numbers) {
      cy.batch(() => {
        cy.nodes().removeClass("match");
        for (const i of numbers) node(i).addClass("match");
      });
    },
  };
}
