// The graph, what is shown of it, and how it is drawn.

const data = JSON.parse(document.getElementById("data").textContent);
const { names, labels, x, y, width, height } = data;
const element = (id) => document.getElementById(id);
const canvas = element("canvas");
const context = canvas.getContext("2d");
const family = getComputedStyle(document.body).fontFamily;

const edges = data.edges.source.map((source, e) => ({
  source,
  target: data.edges.target[e],
  weight: data.edges.weight[e],
  // The standardised weight where that is known, and the weight where it is not.
  size: data.edges.size[e],
  strength: data.edges.strength[e],
  confidence: data.edges.confidence ? data.edges.confidence[e] : null,
  sure: data.edges.sure ? data.edges.sure[e] : 1,
  open: data.edges.open[e] === 1,
  evidence: Object.fromEntries(Object.entries(data.edges.evidence || {}).map(([name, values]) => [name, values[e]])),
  route: data.edges.route[e],
  shown: true,
}));
const parents = names.map(() => []);
const children = names.map(() => []);
for (const edge of edges) {
  parents[edge.target].push(edge);
  children[edge.source].push(edge);
  prepare(edge);
}
for (const list of [...parents, ...children]) list.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
// The strongest edges are drawn last, on top.
const byStrength = [...edges].sort((a, b) => Math.abs(a.strength) - Math.abs(b.strength));
const byDegree = names.map((_, i) => i).sort((a, b) => degree(b) - degree(a) || a - b);

const state = { zoom: 1, left: 0, top: 0, selected: -1, hovered: null, values: edges.length <= 20 };
let colours = {};

// The last whole drawing, which stands in for a new one while a large graph is moved.
const copy = document.createElement("canvas");
const drawn = { zoom: 1, left: 0, top: 0, milliseconds: 0 };
const slow = 20;
let due = false;
let moving = 0;

function degree(i) {
  return parents[i].length + children[i].length;
}

// Make the curve and the arrowhead of an edge, as paths of SVG: level pieces, joined by curves.
function prepare(edge) {
  const r = [...edge.route];
  const last = r.length - 2;
  const tip = [r[last], r[last + 1]];
  const direction = Math.sign(r[last] - r[last - 4]) || 1;
  const length = edge.open ? 0 : 0.42 + 0.5 * Math.abs(edge.strength);
  r[last] -= direction * 0.97 * length;
  if (direction * (r[last - 2] - r[last]) > 0) r[last - 2] = r[last];
  edge.line = `M${point(r[0], r[1])}L${point(r[2], r[3])}`;
  for (let k = 4; k < r.length; k += 4) {
    const middle = (r[k - 2] + r[k]) / 2;
    edge.line += `C${point(middle, r[k - 1])} ${point(middle, r[k + 1])} ${point(r[k], r[k + 1])}`;
    edge.line += `L${point(r[k + 2], r[k + 3])}`;
  }
  const [back, half] = [tip[0] - direction * length, 0.38 * length];
  edge.point = `M${point(...tip)}L${point(back, tip[1] - half)}L${point(back, tip[1] + half)}Z`;
  edge.path = new Path2D(edge.line);
  edge.head = new Path2D(edge.point);
  const across = edge.route.filter((_, k) => k % 2 === 0);
  const down = edge.route.filter((_, k) => k % 2 === 1);
  edge.box = [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
  edge.curve = r.slice(2, 6);
}

function point(a, b) {
  return `${+a.toFixed(3)} ${+b.toFixed(3)}`;
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  colours = Object.fromEntries(["page", "ink", "fill", "rim", "far", "faint", "accent"].map((name) => [name, read(name)]));
  const [negative, neutral, positive] = ["negative", "neutral", "positive"].map((name) => channels(read(name)));
  for (const edge of edges) {
    const end = edge.strength < 0 ? negative : positive;
    const share = Math.abs(edge.strength);
    edge.colour = `rgb(${neutral.map((c, k) => Math.round(c + (end[k] - c) * share)).join(" ")})`;
  }
}

function channels(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

// Draw at the next frame, however often it is asked for.
function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    draw();
  });
}

// Draw while the view moves: at once if that is fast, else the last drawing in its new place until the movement pauses.
function redrawMoving() {
  if (drawn.milliseconds < slow) return redraw();
  clearTimeout(moving);
  moving = setTimeout(redraw, 120);
  const factor = state.zoom / drawn.zoom;
  const ratio = window.devicePixelRatio || 1;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(
    factor, 0, 0, factor, ratio * (state.left - factor * drawn.left), ratio * (state.top - factor * drawn.top),
  );
  context.drawImage(copy, 0, 0);
}

function draw() {
  clearTimeout(moving);
  const start = performance.now();
  const ratio = window.devicePixelRatio || 1;
  const { zoom, left, top } = state;
  const view = [-left / zoom, -top / zoom, (canvas.clientWidth - left) / zoom, (canvas.clientHeight - top) / zoom];
  const near = state.selected < 0 ? null : neighbourhood(state.selected);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(ratio * zoom, 0, 0, ratio * zoom, ratio * left, ratio * top);
  drawEdges(view, near);
  drawNodes(view, near);
  if (state.values && zoom >= 8) drawValues(view, near);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawFarLabels(near);
  copy.width = canvas.width;
  copy.height = canvas.height;
  copy.getContext("2d").drawImage(canvas, 0, 0);
  Object.assign(drawn, { zoom, left, top, milliseconds: performance.now() - start });
  canvas.dataset.view = JSON.stringify([left, top, zoom]);
}

function neighbourhood(i) {
  const near = new Set([i]);
  for (const edge of parents[i]) if (edge.shown) near.add(edge.source);
  for (const edge of children[i]) if (edge.shown) near.add(edge.target);
  return near;
}

function drawEdges(view, near) {
  const thinnest = 0.7 / state.zoom;
  for (const emphasised of near ? [false, true] : [false]) {
    for (const edge of byStrength) {
      const own = near !== null && (edge.source === state.selected || edge.target === state.selected);
      if (!edge.shown || own !== emphasised || !overlaps(edge.box, view)) continue;
      context.globalAlpha = near && !own ? 0.12 : opacity(edge);
      context.strokeStyle = context.fillStyle = edge.colour;
      context.lineWidth = Math.max(lineWidth(edge), thinnest) * (edge === state.hovered ? 2 : 1);
      context.stroke(edge.path);
      if (state.zoom > 2 && !edge.open) context.fill(edge.head);
    }
  }
  context.globalAlpha = 1;
}

function opacity(edge) {
  return 0.15 + 0.85 * edge.sure;
}

function lineWidth(edge) {
  return 0.04 + 0.16 * Math.abs(edge.strength);
}

function drawValues(view, near) {
  context.font = `${numberSize}px ${family}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 0.28;
  context.strokeStyle = colours.page;
  context.fillStyle = colours.ink;
  const wanted = byStrength.filter(
    (edge) => near === null || edge.source === state.selected || edge.target === state.selected,
  );
  for (const [edge, at] of placeValues(wanted.filter((edge) => edge.shown && overlaps(edge.box, view)))) {
    context.strokeText(short(edge.size), ...at);
    context.fillText(short(edge.size), ...at);
  }
}

// Places for the numbers of edges, the strongest first, each on the first curve of its edge. A number that would cover
// another is left out.
const numberSize = 0.68;
const places = [0.5, 0.62, 0.38, 0.74, 0.26];

function placeValues(list) {
  const taken = [];
  const found = [];
  for (const edge of [...list].reverse()) {
    const half = 0.3 * numberSize * short(edge.size).length;
    for (const share of places) {
      const [px, py] = along(edge.curve, share);
      const box = [px - half, py - numberSize / 2, px + half, py + numberSize / 2];
      if (taken.some((b) => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) continue;
      taken.push(box);
      found.push([edge, [px, py]]);
      break;
    }
  }
  return found;
}

// The point of a curve, level at both ends, after this share of it.
function along([left, up, right, down], share) {
  const rest = 1 - share;
  const ends = rest ** 3 * left + share ** 3 * right;
  const rise = share ** 2 * (3 - 2 * share);
  return [ends + (3 * share * rest * (left + right)) / 2, up + rise * (down - up)];
}

function short(value) {
  const size = Math.abs(value);
  const digits = size >= 100 || (size < 0.005 && size > 0) ? size.toPrecision(2) : size.toFixed(2);
  return (value < 0 ? "−" : "") + digits;
}

function overlaps(box, view) {
  return box[0] < view[2] && box[2] > view[0] && box[1] < view[3] + 1 && box[3] > view[1] - 1;
}

function drawNodes(view, near) {
  const readable = state.zoom >= 6.5;
  context.font = `1px ${family}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = 0; i < names.length; i++) {
    const half = width[i] / 2;
    if (!overlaps([x[i] - half, y[i] - height / 2, x[i] + half, y[i] + height / 2], view)) continue;
    context.globalAlpha = near && !near.has(i) ? 0.3 : 1;
    context.beginPath();
    context.roundRect(x[i] - half, y[i] - height / 2, width[i], height, height / 2);
    const alone = degree(i) === 0;
    context.fillStyle = alone ? colours.page : readable ? colours.fill : colours.far;
    context.fill();
    context.lineWidth = i === state.selected ? 0.2 : 0.07;
    context.strokeStyle = i === state.selected ? colours.accent : alone ? colours.faint : colours.rim;
    if (readable || alone || i === state.selected) context.stroke();
    if (!readable) continue;
    context.fillStyle = colours.ink;
    context.fillText(labels[i], x[i], y[i] + 0.04, width[i] - 0.6);
  }
  context.globalAlpha = 1;
}

// Where labels inside the variables are too small, the best connected get one of a fixed size over them.
function drawFarLabels(near) {
  if (state.zoom >= 6.5) return;
  const taken = [];
  const wanted = near ? [state.selected, ...[...near].filter((i) => i !== state.selected)] : byDegree;
  context.font = `11.5px ${family}`;
  for (const i of wanted) {
    if (taken.length === 30 || (!near && degree(i) < 2)) break;
    const [px, py] = [state.left + x[i] * state.zoom, state.top + y[i] * state.zoom];
    const half = context.measureText(labels[i]).width / 2 + 7;
    const box = [px - half, py - 8.5, px + half, py + 8.5];
    if (!overlaps(box, [0, 0, canvas.clientWidth, canvas.clientHeight])) continue;
    if (taken.some((other) => overlaps(box, other))) continue;
    taken.push(box);
    context.beginPath();
    context.roundRect(box[0], box[1], 2 * half, 17, 8.5);
    context.fillStyle = colours.fill;
    context.fill();
    context.lineWidth = i === state.selected ? 2 : 0.8;
    context.strokeStyle = i === state.selected ? colours.accent : colours.rim;
    context.stroke();
    context.fillStyle = colours.ink;
    context.fillText(labels[i], px, py + 0.5);
  }
}

function nodeAt(px, py) {
  const [gx, gy] = [(px - state.left) / state.zoom, (py - state.top) / state.zoom];
  // A finger or a mouse needs some room, however small the variable.
  const slack = Math.max(0, 7 / state.zoom - height / 2);
  return names.findIndex(
    (_, i) => Math.abs(gx - x[i]) <= width[i] / 2 + slack && Math.abs(gy - y[i]) <= height / 2 + slack,
  );
}

function edgeAt(px, py) {
  const [gx, gy] = [(px - state.left) / state.zoom, (py - state.top) / state.zoom];
  const ratio = window.devicePixelRatio || 1;
  const slack = 4 / state.zoom;
  context.setTransform(ratio * state.zoom, 0, 0, ratio * state.zoom, ratio * state.left, ratio * state.top);
  context.lineWidth = 2 * slack;
  return (
    byStrength.findLast(
      (edge) =>
        edge.shown &&
        overlaps(edge.box, [gx - slack, gy - slack, gx + slack, gy + slack]) &&
        context.isPointInStroke(edge.path, px * ratio, py * ratio),
    ) || null
  );
}
