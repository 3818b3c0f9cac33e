// Where everything goes. dagre decides the order within the columns; what comes out is one column per level.

/** Places boxes ({column, width, height}) joined by links ({from, to}) from left to right.
 *  Returns the centres, the points each link bends at where it passes other columns, and the columns. */
function arrange(boxes, links, columnCount, gaps) {
  // dagre counts ranks from the last node backwards; levels count from the first forwards. So it is given
  // every link turned round and a drawing from right to left. The length of each link pins its ends.
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "RL", ranker: "longest-path", nodesep: gaps.node, edgesep: 4, ranksep: gaps.column });
  graph.setDefaultEdgeLabel(() => ({}));
  boxes.forEach((box, i) => graph.setNode(String(i), { width: box.width, height: box.height }));
  const placed = new Set();
  for (const { from, to } of links) {
    graph.setEdge(String(to), String(from), { minlen: boxes[to].column - boxes[from].column });
    placed.add(to);
  }
  // A box that nothing leads to has nothing that holds it in its column.
  boxes.forEach((box, i) => {
    if (box.column === 0 || placed.has(i)) return;
    if (!graph.hasNode("anchor")) graph.setNode("anchor", { width: 0, height: 0 });
    graph.setEdge(String(i), "anchor", { minlen: box.column, weight: 0 });
  });
  if (boxes.length > 0) dagre.layout(graph);

  const centres = boxes.map((box, i) => ({ x: graph.node(String(i)).x, y: graph.node(String(i)).y }));
  const columns = Array.from({ length: columnCount }, () => ({ left: Infinity, right: -Infinity, x: 0 }));
  boxes.forEach((box, i) => {
    const column = columns[box.column];
    column.x = centres[i].x;
    column.left = Math.min(column.left, centres[i].x - box.width / 2);
    column.right = Math.max(column.right, centres[i].x + box.width / 2);
  });
  const bends = links.map(({ from, to }) => {
    const points = graph.edge(String(to), String(from)).points.slice(1, -1).reverse();
    const passed = columns.slice(boxes[from].column + 1, boxes[to].column);
    return passed.map((column) => {
      const nearest = points.reduce((best, p) => (Math.abs(p.x - column.x) < Math.abs(best.x - column.x) ? p : best));
      return { x: column.x, y: nearest.y };
    });
  });
  squeeze(boxes, centres, links, bends, columnCount, gaps.node);
  return { centres, bends, columns };
}

/** dagre keeps room for every line between the columns, which makes drawings several times as tall as their
 *  columns. Here each column keeps its order and comes as near as it can to a drawing as tall as needed. */
function squeeze(boxes, centres, links, bends, columnCount, gap) {
  const columns = Array.from({ length: columnCount }, () => []);
  boxes.forEach((box, i) => columns[box.column].push({ point: centres[i], room: box.height + gap }));
  links.forEach(({ from }, i) =>
    bends[i].forEach((point, k) => columns[boxes[from].column + 1 + k].push({ point, room: Math.max(6, gap * 0.8) })));
  const heights = columns.map((column) => column.reduce((sum, entry) => sum + entry.room, 0));
  const all = columns.flat().map((entry) => entry.point.y);
  const tall = Math.max(...all) - Math.min(...all);
  const scale = Math.min(1, (1.1 * Math.max(...heights)) / Math.max(1, tall));
  for (const column of columns) {
    column.sort((a, b) => a.point.y - b.point.y);
    // Least squares under "not nearer than": subtract the room, pool neighbours out of order, add it again.
    const pools = [];
    let offset = 0;
    column.forEach((entry, i) => {
      if (i > 0) offset += (column[i - 1].room + entry.room) / 2;
      entry.offset = offset;
      pools.push({ sum: entry.point.y * scale - offset, count: 1 });
      while (pools.length > 1) {
        const last = pools[pools.length - 1], before = pools[pools.length - 2];
        if (before.sum / before.count <= last.sum / last.count) break;
        pools.pop();
        before.sum += last.sum;
        before.count += last.count;
      }
    });
    let at = 0;
    for (const pool of pools)
      for (let k = 0; k < pool.count; ++k, ++at) column[at].point.y = pool.sum / pool.count + column[at].offset;
  }
}

/** A link as a curve that leaves and enters its boxes level, and passes its bends level. In Cytoscape's words:
 *  control points by their place along the line between the ends, and their distance from it. */
function curve(source, target, bends) {
  const stops = [source, ...bends, target];
  const controls = [];
  for (let i = 1; i < stops.length; ++i) {
    const reach = (stops[i].x - stops[i - 1].x) * 0.34;
    controls.push({ x: stops[i - 1].x + reach, y: stops[i - 1].y }, { x: stops[i].x - reach, y: stops[i].y });
  }
  const along = { x: target.x - source.x, y: target.y - source.y };
  const length = Math.hypot(along.x, along.y) || 1;
  return {
    weights: controls.map((p) => ((p.x - source.x) * along.x + (p.y - source.y) * along.y) / (length * length)),
    distances: controls.map((p) => ((p.y - source.y) * along.x - (p.x - source.x) * along.y) / length),
  };
}
