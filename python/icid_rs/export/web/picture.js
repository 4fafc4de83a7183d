// Saving the picture: the whole graph as SVG, or what is shown as PNG.

const fileName = data.title.replace(/[^\p{L}\p{N}]+/gu, " ").trim() || "graph";

function save(blob, suffix) {
  const link = make("a", { href: URL.createObjectURL(blob), download: `${fileName}.${suffix}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function addTo(parent, tag, attributes = {}, text = undefined) {
  // The page must not name an address, not even that of the standard.
  const node = document.createElementNS(element("picture").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

// The edges and variables that are shown, whatever the view: one unit is the size of the font.
function drawing() {
  const [left, top, right, bottom] = extent();
  const frame = { x: left - 1, y: top - 1, width: right - left + 2, height: bottom - top + 2 };
  const size = { width: 14 * frame.width, height: 14 * frame.height, "font-family": family };
  const root = addTo(null, "svg", { viewBox: Object.values(frame).join(" "), ...size });
  addTo(root, "title", {}, data.title);
  addTo(root, "rect", { ...frame, fill: colours.page });
  const shown = byStrength.filter((edge) => edge.shown);
  for (const edge of shown) {
    const group = addTo(root, "g", { opacity: opacity(edge).toFixed(2) });
    addTo(group, "title", {}, describe(edge));
    const line = { d: edge.line, stroke: edge.colour, "stroke-width": lineWidth(edge).toFixed(3) };
    addTo(group, "path", { ...line, fill: "none" });
    if (!edge.open) addTo(group, "path", { d: edge.point, fill: edge.colour });
  }
  names.forEach((name, i) => {
    const group = addTo(root, "g");
    addTo(group, "title", {}, name);
    const box = { x: x[i] - width[i] / 2, y: y[i] - height / 2, width: width[i], height, rx: height / 2 };
    addTo(group, "rect", { ...box, fill: colours.fill, stroke: colours.rim, "stroke-width": 0.07 });
    const at = { x: x[i], y: y[i] + 0.35, "font-size": 1, "text-anchor": "middle" };
    addTo(group, "text", { ...at, fill: colours.ink }, labels[i]);
  });
  if (state.values) {
    const halo = { stroke: colours.page, "stroke-width": 0.28, "paint-order": "stroke", fill: colours.ink };
    for (const [edge, [px, py]] of placeValues(shown)) {
      const at = { x: px, y: py + 0.24, "font-size": numberSize, "text-anchor": "middle" };
      addTo(root, "text", { ...at, ...halo }, short(edge.size));
    }
  }
  return new XMLSerializer().serializeToString(root);
}

element("svg").addEventListener("click", () => save(new Blob([drawing()], { type: "image/svg+xml" }), "svg"));
element("png").addEventListener("click", () => {
  draw();
  canvas.toBlob((blob) => save(blob, "png"), "image/png");
});
