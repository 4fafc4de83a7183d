// The panel: search, filters, and what is known of the selected variable.

function signed(value) {
  return (value < 0 ? "−" : "+") + Math.abs(value).toPrecision(3);
}

function make(tag, properties = {}, ...content) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...content);
  return node;
}

// Search.

const search = element("search");
const matches = element("matches");
const collator = new Intl.Collator(undefined, { numeric: true });
const inOrder = names.map((_, i) => i).sort((a, b) => collator.compare(names[a], names[b]));
let found = [];
let active = -1;

function find() {
  const text = search.value.trim().toLowerCase();
  const rank = (i) => {
    const name = names[i].toLowerCase();
    return name === text ? 0 : name.startsWith(text) ? 1 : name.includes(text) ? 2 : 3;
  };
  found = text ? inOrder.filter((i) => rank(i) < 3).sort((a, b) => rank(a) - rank(b)).slice(0, 10) : [];
  active = found.length ? 0 : -1;
  matches.replaceChildren(
    ...found.map((i, k) => {
      const item = make("li", { id: "match-" + k, role: "option", textContent: names[i] });
      item.addEventListener("pointerdown", (event) => event.preventDefault());
      item.addEventListener("click", () => choose(k));
      return item;
    }),
  );
  if (text && !found.length) matches.append(make("li", { className: "none", textContent: "no such variable" }));
  matches.hidden = !text;
  search.setAttribute("aria-expanded", String(!matches.hidden));
  mark();
}

function mark() {
  [...matches.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === active)));
  if (active >= 0) search.setAttribute("aria-activedescendant", "match-" + active);
  else search.removeAttribute("aria-activedescendant");
}

function choose(k) {
  if (k < 0) return;
  const i = found[k];
  search.value = names[i];
  closeMatches();
  select(i);
  centreOn(i);
}

function closeMatches() {
  matches.hidden = true;
  search.setAttribute("aria-expanded", "false");
}

search.addEventListener("input", find);
search.addEventListener("focus", () => search.select());
search.addEventListener("blur", closeMatches);
search.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && found.length) {
    event.preventDefault();
    active = (active + step + found.length) % found.length;
    mark();
  } else if (event.key === "Enter") choose(active);
  else if (event.key === "Escape") closeMatches();
});

// Filters.

// The slider's places are spread over the sizes that occur, so that each step hides about as many edges.
const sizes = edges.map((edge) => Math.abs(edge.size)).sort((a, b) => a - b);

function filter() {
  const share = element("weight").value / 1000;
  const least = share > 0 && sizes.length ? sizes[Math.min(sizes.length - 1, Math.floor(share * sizes.length))] : 0;
  const sure = element("confidence").value / 100;
  for (const edge of edges) {
    edge.shown = Math.abs(edge.size) >= least && (edge.confidence === null || edge.confidence >= sure);
  }
  const shown = edges.filter((edge) => edge.shown).length;
  element("weight-value").textContent = least.toPrecision(3);
  element("weight").setAttribute("aria-valuetext", `${least.toPrecision(3)}`);
  element("confidence-value").textContent = sure.toFixed(2);
  const which = shown === edges.length ? `${shown}` : `${shown} of ${edges.length}`;
  element("status").textContent = `${names.length} variables, ${which} edges`;
  showDetails();
  redraw();
}

element("weight").addEventListener("input", filter);
element("confidence").addEventListener("input", filter);

// Details.

function select(i) {
  state.selected = i;
  showDetails();
  redraw();
}

function showDetails() {
  const i = state.selected;
  const details = element("details");
  if (i < 0) {
    const hint = "Click a variable to see its causes, its effects and how strong they are.";
    details.replaceChildren(make("p", { className: "hint", textContent: hint }));
    listEdges();
    return;
  }
  const entry = (edge) => ({ other: edge.source === i ? edge.target : edge.source, value: edge.weight, size: edge.size, edge });
  const effects = (side) => data.effects[side][i].map(([other, value]) => ({ other, value, size: value }));
  const claimed = (side) => side[i].filter((edge) => !edge.open).map(entry);
  const open = [...parents[i], ...children[i]].filter((edge) => edge.open);
  details.replaceChildren(make("h2", { textContent: names[i] }));
  const none = open.length ? "none whose direction is claimed" : "none in this graph";
  list("Causes", "parents", claimed(parents), none);
  list("Direct effects", "children", claimed(children), none);
  list("Cause or effect: direction open", "either", open.sort((a, b) => Math.abs(b.size) - Math.abs(a.size)).map(entry), "");
  if (!data.effects) {
    details.append(make("h3", { textContent: "Total effects" }));
    details.append(make("p", { className: "hint", textContent: "not listed: the graph has a cycle or categories" }));
    return;
  }
  // Effects along paths of the drawing, in which every edge has a direction.
  const drawn = edges.some((edge) => edge.open) ? ", if all directions are as drawn" : "";
  list(`Strongest total effects on others${drawn}`, "effects-on", effects("on"), "");
  list(`Strongest total effects from others${drawn}`, "effects-from", effects("from"), "");
}

function list(title, id, entries, empty) {
  if (!entries.length && !empty) return;
  const largest = Math.max(...entries.map((entry) => Math.abs(entry.size)));
  const count = entries.length && entries[0].edge ? ` (${entries.length})` : "";
  const items = entries.map((entry) => {
    const bar = make("i");
    bar.style.width = (100 * Math.abs(entry.size)) / largest + "%";
    bar.style.background = `var(--${entry.value < 0 ? "negative" : "positive"})`;
    const name = make("span", { textContent: names[entry.other], title: names[entry.other] });
    const value = make("em", { textContent: signed(entry.value) });
    const button = make("button", { type: "button" }, name, make("span", { className: "strength" }, bar), value);
    if (entry.edge) button.append(make("small", { textContent: facts(entry.edge).join(" · ") }));
    button.addEventListener("click", () => {
      select(entry.other);
      centreOn(entry.other);
    });
    return make("li", { className: entry.edge && !entry.edge.shown ? "filtered" : "" }, button);
  });
  element("details").append(
    make("h3", { textContent: title + count }),
    items.length ? make("ul", { id }, ...items) : make("p", { className: "hint", textContent: empty }),
  );
}

// The strongest edges that are shown; one that is chosen tells what it rests on.
const most = 40;

function listEdges() {
  const strongest = edges.filter((edge) => edge.shown).sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
  if (!strongest.length) return;
  const items = strongest.slice(0, most).map((edge) => {
    const name = `${names[edge.source]} ${edge.open ? "—" : "→"} ${names[edge.target]}`;
    const text = make("span", { textContent: name, title: name });
    const share = make("em", { textContent: data.edges.sure ? `${Math.round(100 * edge.sure)} %` : "" });
    const more = make("small", { textContent: facts(edge).join(" · "), hidden: true });
    const button = make("button", { type: "button" }, text, share, make("em", { textContent: short(edge.size) }), more);
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      more.hidden = !more.hidden;
      button.setAttribute("aria-expanded", String(!more.hidden));
      state.hovered = more.hidden ? null : edge;
      redraw();
    });
    return make("li", { className: "both" }, button);
  });
  const rest = strongest.length > most ? ` (${most} of ${strongest.length})` : "";
  element("details").append(
    make("h3", { textContent: `Strongest edges${rest}: ${data.edges.sure ? "how sure, " : ""}${data.scale.name}` }),
    make("ul", { id: "edges" }, ...items),
  );
}

// Light and dark.

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  readColours();
  redraw();
}
prefersDark.addEventListener("change", (event) => setTheme(event.matches));
element("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));

// Start.

const [lowest, , highest] = element("ticks").children;
highest.textContent = data.scale.limit.toPrecision(3);
lowest.textContent = "−" + highest.textContent;
element("legend").firstElementChild.textContent = data.scale.name + (data.scale.linear ? "" : " (asinh scale)");
element("weight-name").textContent = data.scale.name === "weight" ? "Weight at least" : "Standardised weight at least";
element("values").setAttribute("aria-pressed", String(state.values));
element("legend").hidden = !edges.length;
element("headless").hidden = !edges.some((edge) => edge.open);
element("pale").hidden = !data.edges.sure;
element("confidence-filter").hidden = !data.edges.confidence;
canvas.setAttribute("aria-label", `Causal graph of ${names.length} variables and ${edges.length} edges`);
setTheme(prefersDark.matches);
resize();
Object.assign(state, wholeView());
filter();
new ResizeObserver(resize).observe(canvas);
