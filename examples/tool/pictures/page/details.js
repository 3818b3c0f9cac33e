// What is known of one node, in words. Text from the graph only ever becomes text, never markup.

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options))
    if (name === "text") made.textContent = value;
    else if (name === "onclick") made.addEventListener("click", value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  made.append(...children.filter(Boolean));
  return made;
}

/** A small picture of a node's shape and colour. */
function glyph(look, tone) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg"), shape = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 20 14");
  svg.setAttribute("class", `glyph ${look}`);
  svg.setAttribute("aria-hidden", "true");
  if (tone !== undefined) svg.style.cssText = `--fill: var(--tone-${tone}-fill); --stroke: var(--tone-${tone}-line)`;
  shape.setAttribute("d", {
    input: "M2 2h11l5 5-5 5H2z",
    deterministic: "M2 2h16v10H2zM4 4h12v6H4z",
    reward: "M5 2h10l4 5-4 5H5L1 7z",
    sparse: "M1 7h18",
    edge: "M1 7h18",
    route: "M1 7h18",
    violating: "M6 1h8a5 5 0 0 1 5 5v2a5 5 0 0 1-5 5H6a5 5 0 0 1-5-5V6a5 5 0 0 1 5-5z",
  }[look] ?? "M5 2h10a3 3 0 0 1 3 3v4a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3V5a3 3 0 0 1 3-3z");
  svg.append(shape);
  return svg;
}

function glyphOf(data, item) {
  return glyph(item.look, item.look === "stochastic" && item.marks.length ? data.marks[item.marks[0]].tone : undefined);
}

function section(title, ...children) {
  return element("section", {}, element("h3", { text: title }), ...children);
}

function makeDetails(data, choose) {
  const panel = document.getElementById("details");
  const nodeButton = (i, remark) => element("button", { type: "button", class: "node", onclick: () => choose(i, "details") },
    glyphOf(data, data.items[i]), element("bdi", { text: data.items[i].name }), remark && element("small", { text: remark }));
  const neighbours = (numbers, remarks) => numbers.length
    ? element("ul", { class: "nodes" }, ...numbers.map((i, k) => element("li", {}, nodeButton(i, remarks[k]))))
    : element("p", { class: "none", text: "none" });
  const wiring = (link) => (link.sparse ? `sparse, ${link.pairs.toLocaleString("en")} of ${link.all_pairs.toLocaleString("en")} pairs` : "");

  function route(kind, numbers, names) {
    const steps = names.flatMap((name, k) => [k > 0 ? element("i", { text: " → " }) : null,
      element("button", { type: "button", onclick: () => choose(numbers[k], "details") }, element("bdi", { text: name }))]);
    return element("p", { class: `witness ${kind}` },
      element("span", { text: kind === "edge" ? (numbers.length === 2 ? "the edge" : "the shorter route") : "the longer route" }), ...steps);
  }
  function proofOf(item) {
    const { proof } = item;
    const child = data.items[proof.child].name;
    return section("Two routes meet", route("edge", proof.edge, proof.edge_names), route("route", proof.route, proof.route_names),
      element("p", { class: "meaning" }, "Both end in ", element("bdi", { text: child, class: "child" }),
        ": one of its other parents descends from this node."));
  }
  function creditsOf(item) {
    if (item.look === "deterministic") return section("Credit", element("p", { class: "none", text: "by the chain rule: its value follows from its parents" }));
    if (item.look !== "stochastic") return null;
    if (item.credits.length === 0) return section("Credit", element("p", { class: "none", text: "no reward credits it" }));
    return section("Credit", ...item.credits.map((credit) => {
      const mark = data.marks.find((each) => each.name === credit.mark);
      const verdict = !credit.admissible ? `refused${credit.reason === "none" ? "" : `: ${credit.reason}`}` : credit.unbiased ? "admissible, unbiased" : "admissible, biased";
      return element("div", { class: "credit" },
        element("p", {}, "reward ", element("bdi", { text: credit.reward })),
        element("p", { class: "estimator" }, glyph("stochastic", mark?.tone), element("b", { text: credit.mark || "none found" }),
          element("small", { text: credit.automatic ? "chosen by Auto" : "chosen by estimate_with" })),
        element("p", { class: credit.admissible ? "good" : "bad", text: verdict }),
        credit.why && element("p", { class: "why", text: credit.why }));
    }));
  }
  function messagesOf(messages) {
    return messages.map((message) => element("div", { class: `message ${message.severity}` },
      element("p", {}, element("code", { text: `${message.severity}[${message.code}]` })),
      element("p", { text: message.text }), ...message.help.map((line) => element("pre", { text: line }))));
  }

  function nodeContent(item, i) {
    const to = data.links.filter((link) => link.to === i), from = data.links.filter((link) => link.from === i);
    const facts = element("dl", {});
    const fact = (name, value, kind) => facts.append(element("dt", { text: name }), element("dd", { text: value, class: kind }));
    if (item.look === "reward") {
      fact("kind", "reward, a black box");
      return [facts, section("Reads", neighbours(to.map((link) => link.from), to.map(() => "")))];
    }
    fact("kind", item.kind);
    fact("units", item.units.toLocaleString("en"));
    fact("level", String(item.level));
    fact("Assumption 1", item.assumption, item.violates ? "bad" : item.assumption === "holds" ? "good" : "");
    return [facts, item.proof && proofOf(item), creditsOf(item),
      item.messages.length ? section("Remarks", ...messagesOf(item.messages)) : null,
      section("Parents", neighbours(to.map((link) => link.from), to.map(wiring))),
      section("Children", neighbours(from.map((link) => link.to), from.map((link) => (data.items[link.to].look === "reward" ? "reward" : wiring(link)))))];
  }
  function groupContent(item, i) {
    const facts = element("dl", {});
    const fact = (name, value, kind) => facts.append(element("dt", { text: name }), element("dd", { text: value, class: kind }));
    fact("stands for", item.caption);
    if (item.look !== "reward") fact("where", data.columns[item.column]);
    if (item.look !== "reward") fact("units", item.units.toLocaleString("en"));
    if (item.look === "stochastic") fact("violate Assumption 1", item.violating.toLocaleString("en"), item.violating ? "bad" : "good");
    const shown = item.violating ? Math.min(item.violating, item.examples.length) : item.examples.length;
    const total = item.violating || item.nodes;
    const links = (key, other) => {
      const its = data.links.filter((link) => link[key] === i);
      return neighbours(its.map((link) => link[other]), its.map((link) => `${data.columns[data.items[link[other]].column]}, ${link.edges.toLocaleString("en")} edges`));
    };
    return [facts,
      item.counts.length ? section("Credited by", ...item.counts.map(([mark, nodes]) => element("p", { class: "estimator" },
        glyph("stochastic", data.marks[mark].tone), element("b", { text: data.marks[mark].name }), element("small", { text: `${nodes.toLocaleString("en")} nodes` })))) : null,
      section(item.violating ? "Nodes that violate it" : "Nodes", element("p", { class: "names" },
        ...item.examples.map((name) => element("bdi", { text: name })), total > shown && element("small", { text: `and ${(total - shown).toLocaleString("en")} more` }))),
      section("From", links("to", "from")), section("To", links("from", "to"))];
  }

  return {
    messagesOf,
    width: () => (panel.hidden ? 0 : panel.getBoundingClientRect().width),
    show(i) {
      panel.hidden = i === null;
      panel.replaceChildren();
      if (i === null) return;
      const item = data.items[i];
      panel.append(...[
        element("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Escape)", text: "×", onclick: () => choose(null, "details") }),
        element("h2", {}, glyphOf(data, item), element("bdi", { text: item.name })),
        data.view === "nodes" && item.look !== "reward" && element("p", { class: "caption", text: { input: "given with every sample", deterministic: "deterministic", stochastic: "stochastic" }[item.look] }),
        ...(data.view === "groups" ? groupContent(item, i) : nodeContent(item, i)),
      ].filter(Boolean));
      panel.scrollTop = 0;
    },
  };
}
