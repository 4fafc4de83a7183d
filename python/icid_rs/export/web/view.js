// Moving about: mouse, touch, wheel, buttons and keys.

const nearest = 120;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// Dragged variables, whose edges leave the routes of the layout.
const dragged = new Set();
const home = { x: [...x], y: [...y], routes: edges.map((edge) => edge.route) };

// The corners of the drawing, which grows as variables are dragged out of it.
function extent() {
  const box = [0, 0, ...data.size];
  for (const i of dragged) {
    box[0] = Math.min(box[0], x[i] - width[i] / 2);
    box[1] = Math.min(box[1], y[i] - height / 2);
    box[2] = Math.max(box[2], x[i] + width[i] / 2);
    box[3] = Math.max(box[3], y[i] + height / 2);
  }
  return box;
}

function wholeView() {
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  // The legend stands at the foot, as far as the canvas has room for that, and the buttons at the head if they lie level.
  const [margin, foot] = [Math.min(60, w / 10), Math.min(14 + element("legend").offsetHeight, h / 4)];
  const tools = element("tools");
  const head = tools.offsetWidth > tools.offsetHeight ? tools.offsetTop + tools.offsetHeight : 15;
  const [left, top, right, bottom] = extent();
  const [across, down] = [right - left, bottom - top];
  // Names of a few variables need not be larger than headlines.
  const zoom = Math.min((w - 2 * margin) / across, (h - head - foot - 30) / down, 36);
  return { zoom, left: (w - across * zoom) / 2 - left * zoom, top: (h + head - foot - down * zoom) / 2 - top * zoom };
}

function moveVariable(i, dx, dy) {
  x[i] += dx;
  y[i] += dy;
  dragged.add(i);
  for (const edge of [...parents[i], ...children[i]]) {
    const { source, target } = edge;
    const direction = x[target] >= x[source] ? 1 : -1;
    const start = x[source] + (direction * width[source]) / 2;
    const end = x[target] - (direction * width[target]) / 2;
    const level = 0.5 * direction;
    edge.route = [start, y[source], start + level, y[source], end - level, y[target], end, y[target]];
    prepare(edge);
  }
  redraw();
}

function putBack() {
  for (const i of dragged) [x[i], y[i]] = [home.x[i], home.y[i]];
  dragged.clear();
  edges.forEach((edge, e) => {
    if (edge.route === home.routes[e]) return;
    edge.route = home.routes[e];
    prepare(edge);
  });
  flyTo(wholeView());
}

function zoomAt(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  const least = Math.min(wholeView().zoom / 2, 4);
  const zoom = Math.min(nearest, Math.max(least, state.zoom * factor));
  state.left = px - ((px - state.left) * zoom) / state.zoom;
  state.top = py - ((py - state.top) * zoom) / state.zoom;
  state.zoom = zoom;
  redrawMoving();
}

function moveBy(dx, dy) {
  state.left += dx;
  state.top += dy;
  redrawMoving();
}

let flight = 0;
function flyTo(goal) {
  cancelAnimationFrame(flight);
  const from = { zoom: state.zoom, left: state.left, top: state.top };
  const start = performance.now();
  const step = (now) => {
    const t = calm ? 1 : Math.min(1, Math.max(0, now - start) / 250);
    const eased = t * t * (3 - 2 * t);
    for (const key of ["zoom", "left", "top"]) state[key] = from[key] + (goal[key] - from[key]) * eased;
    if (t < 1) flight = requestAnimationFrame(step);
    if (t < 1) redrawMoving();
    else draw();
  };
  flight = requestAnimationFrame(step);
}

// Put a variable in the middle, as large as lets its neighbours be seen too, but large enough to be read.
function centreOn(i) {
  const near = [...neighbourhood(i)];
  const across = Math.max(...near.map((j) => Math.abs(x[j] - x[i]) + width[j] / 2 + 1));
  const down = Math.max(...near.map((j) => Math.abs(y[j] - y[i]) + height));
  const fitting = Math.min(canvas.clientWidth / 2 / across, canvas.clientHeight / 2 / down);
  const zoom = Math.min(16, Math.max(10, fitting));
  flyTo({ zoom, left: canvas.clientWidth / 2 - x[i] * zoom, top: canvas.clientHeight / 2 - y[i] * zoom });
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  redraw();
}

const touches = new Map();
let travelled = 0;
let grabbed = -1;

function place(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener("pointerdown", (event) => {
  cancelAnimationFrame(flight);
  canvas.setPointerCapture(event.pointerId);
  touches.set(event.pointerId, place(event));
  if (touches.size === 1) travelled = 0;
  grabbed = touches.size === 1 ? nodeAt(...place(event)) : -1;
  hideTip();
});

canvas.addEventListener("pointermove", (event) => {
  const now = place(event);
  const before = touches.get(event.pointerId);
  if (!before) return hover(...now);
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  travelled += Math.hypot(dx, dy);
  if (touches.size === 2) {
    const other = [...touches].find(([id]) => id !== event.pointerId)[1];
    const distance = (a) => Math.max(1, Math.hypot(a[0] - other[0], a[1] - other[1]));
    zoomAt(distance(now) / distance(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    moveBy(dx / 2, dy / 2);
  } else if (travelled > 4) {
    canvas.classList.add("dragging");
    if (grabbed < 0) moveBy(dx, dy);
    else moveVariable(grabbed, dx / state.zoom, dy / state.zoom);
  }
  touches.set(event.pointerId, now);
});

function release(event) {
  if (!touches.delete(event.pointerId) || touches.size) return;
  canvas.classList.remove("dragging");
  if (event.type === "pointerup" && travelled <= 4) select(nodeAt(...place(event)));
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", hideTip);

canvas.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    cancelAnimationFrame(flight);
    const unit = [1, 30, 300][event.deltaMode];
    zoomAt(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * unit)) * (event.ctrlKey ? 0.01 : 0.0018)), ...place(event));
  },
  { passive: false },
);

function hover(px, py) {
  const i = nodeAt(px, py);
  const edge = i < 0 ? edgeAt(px, py) : null;
  canvas.classList.toggle("pointing", i >= 0);
  if (edge !== state.hovered) {
    state.hovered = edge;
    redraw();
  }
  if (i < 0 && !edge) return hideTip();
  const tip = element("tip");
  tip.textContent = edge ? describe(edge) : names[i];
  tip.hidden = false;
  tip.style.left = Math.max(4, Math.min(px + 14, canvas.clientWidth - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.max(4, Math.min(py + 16, canvas.clientHeight - tip.offsetHeight - 6)) + "px";
}

function describe(edge) {
  const line = `${names[edge.source]} ${edge.open ? "—" : "→"} ${names[edge.target]}: ${signed(edge.weight)}`;
  return [line, ...facts(edge)].join("\n");
}

const grounds = {
  compelled: "direction: follows from the independences",
  shape: "direction: from the shape of the noise",
  variance: "direction: from the noise variances",
  knowledge: "direction: known beforehand",
  open: "direction: open, it may point either way",
};

// What an edge rests on, line by line.
function facts(edge) {
  const known = edge.evidence;
  const lines = [];
  const add = (name, text) => {
    if (known[name] !== undefined && known[name] !== null) lines.push(text(known[name]));
  };
  add("standardised", (value) => `in standard deviations: ${signed(value)}`);
  add("std_error", (value) => `standard error: ${value.toPrecision(2)}`);
  add("p_value", (value) => `p-value, given the graph: ${probability(value)}`);
  add("direction", (value) => grounds[value]);
  add("stability", (value) => `resamples with this direction: ${Math.round(100 * value)} %`);
  add("joined", (value) => `resamples with this edge either way: ${Math.round(100 * value)} %`);
  add("margin", (value) => `score lost if reversed: ${value.toPrecision(3)}`);
  if (edge.confidence !== null) lines.push(`confidence ${edge.confidence.toFixed(2)}`);
  return lines;
}

function probability(value) {
  if (value === 0) return "below 1e-300";
  return value < 1e-4 ? value.toExponential(0) : value.toPrecision(2);
}

function hideTip() {
  element("tip").hidden = true;
  if (state.hovered) {
    state.hovered = null;
    redraw();
  }
}

const keys = {
  ArrowLeft: () => moveBy(60, 0),
  ArrowRight: () => moveBy(-60, 0),
  ArrowUp: () => moveBy(0, 60),
  ArrowDown: () => moveBy(0, -60),
  "+": () => zoomAt(1.3),
  "=": () => zoomAt(1.3),
  "-": () => zoomAt(1 / 1.3),
  0: () => flyTo(wholeView()),
  n: toggleValues,
  r: putBack,
};
const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  if (event.shiftKey && steps[event.key] && state.selected >= 0) return moveVariable(state.selected, ...steps[event.key]);
  keys[event.key]();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") select(-1);
  if (event.key === "/" && event.target !== element("search")) {
    event.preventDefault();
    element("search").focus();
  }
});

element("zoom-in").addEventListener("click", () => zoomAt(1.4));
element("zoom-out").addEventListener("click", () => zoomAt(1 / 1.4));
element("fit").addEventListener("click", () => flyTo(wholeView()));
element("reset").addEventListener("click", putBack);
element("values").addEventListener("click", toggleValues);

function toggleValues() {
  state.values = !state.values;
  element("values").setAttribute("aria-pressed", String(state.values));
  redraw();
}
