"""The page in a real browser: search, filter, click, keys, at every size."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs import datasets
from icid_rs.export.web import render_page
from icid_rs.graph.evidence import EdgeEvidence
from tests.helpers.needs import CHROMIUM, DRIVER, need, needs_browser

webdriver = need("selenium.webdriver")
pytestmark = needs_browser

SIZES = [10, 50, 200, 1000]


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,860")
    options.add_argument("--force-prefers-reduced-motion")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


class Opened:
    """A page in the browser, and the graph it shows."""

    def __init__(self, browser, folder, d, names=None, B=None, **more):
        self.browser = browser
        self.B = datasets.random_dag(d, 1, random_state=d) if B is None else sp.csr_array(B)
        self.names = [f"variable {i}" for i in range(d)] if names is None else names
        path = folder / f"graph {d}.html"
        path.write_text(render_page(self.B, self.names, **more), encoding="utf-8")
        browser.get_log("browser")
        browser.get(path.as_uri())
        self.data = json.loads(self.element("data").get_property("textContent"))
        self.hub = int(np.argmax(np.diff(self.B.indptr) + np.bincount(self.B.indices, minlength=d)))
        self.view()

    def element(self, identifier):
        return self.browser.find_element("id", identifier)

    def view(self):
        """Wait until all drawings that are due have been made; return left, top and zoom.

        A drawing is due at the next frame, or 120 ms after the last movement: a later timer of the browser comes after.
        """
        view = self.browser.execute_async_script(
            "const done = arguments[0], frames = (then) => requestAnimationFrame(() => requestAnimationFrame(then));"
            "frames(() => setTimeout(() => frames(() => done(document.getElementById('canvas').dataset.view)), 150))"
        )
        return json.loads(view)

    def place(self, i):
        """Where a variable is on the canvas, from its upper left corner."""
        left, top, zoom = self.view()
        return left + self.data["x"][i] * zoom, top + self.data["y"][i] * zoom

    def move_to(self, x, y):
        """Start a chain of actions by moving the mouse to a place on the canvas."""
        canvas = self.element("canvas")
        right, down = round(x - canvas.size["width"] / 2), round(y - canvas.size["height"] / 2)
        return webdriver.ActionChains(self.browser).move_to_element_with_offset(canvas, right, down)

    def click(self, i):
        self.move_to(*self.place(i)).click().perform()

    def touch(self, kind, *points):
        touches = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        self.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def listed(self, identifier):
        rows = self.browser.find_elements("css selector", f"#{identifier} li button")
        return {
            row.find_element("css selector", "span").get_attribute("title"): float(
                row.find_element("tag name", "em").text.replace("−", "-")
            )
            for row in rows
        }

    def find(self, text):
        field = self.element("search")
        field.clear()
        field.send_keys(text)
        field.send_keys(webdriver.Keys.ENTER)

    def slide(self, identifier, value):
        self.browser.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
            self.element(identifier),
            value,
        )

    def heading(self):
        found = self.browser.find_elements("css selector", "#details h2")
        return found[0].text if found else None

    def problems(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def ink(self):
        """Count the pixels of edges: those that are coloured."""
        return self.browser.execute_script(
            "const c = document.getElementById('canvas');"
            "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;"
            "for (let k = 0; k < p.length; k += 4) if (Math.abs(p[k] - p[k + 2]) > 60) n++; return n"
        )


@pytest.fixture(scope="module", params=SIZES)
def page(request, browser, tmp_path_factory):
    return Opened(browser, tmp_path_factory.mktemp("pages"), request.param)


def test_it_loads_without_complaint(page):
    assert page.problems() == []
    d = len(page.names)
    assert page.element("status").text == f"{d} variables, {page.B.nnz} edges"
    left, top, zoom = page.view()
    x, y = left + zoom * np.array(page.data["x"]), top + zoom * np.array(page.data["y"])
    size = page.element("canvas").size
    assert ((x > 0) & (x < size["width"]) & (y > 0) & (y < size["height"])).all()
    assert page.ink() > 100


def test_search_finds_and_centres(page):
    i = len(page.names) // 2
    page.find(page.names[i].upper())
    assert page.heading() == page.names[i]
    canvas = page.element("canvas")
    assert page.place(i) == pytest.approx((canvas.size["width"] / 2, canvas.size["height"] / 2), abs=1)
    page.find("no such name")
    assert page.heading() == page.names[i]
    assert page.problems() == []


def test_click_shows_parents_children_and_effects(page):
    i = page.hub
    page.find(page.names[i])
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    assert page.heading() is None
    page.click(i)
    assert page.heading() == page.names[i]
    B = page.B.toarray()
    parents = {page.names[j]: B[j, i] for j in np.flatnonzero(B[:, i])}
    children = {page.names[j]: B[i, j] for j in np.flatnonzero(B[i])}
    assert page.listed("parents") == pytest.approx(parents, rel=1e-2)
    assert page.listed("children") == pytest.approx(children, rel=1e-2)
    effects = np.linalg.inv(np.eye(len(B)) - B) - np.eye(len(B))
    for identifier, row in (("effects-on", effects[i]), ("effects-from", effects[:, i])):
        listed = page.listed(identifier)
        assert len(listed) == min(10, np.count_nonzero(np.abs(row) > 1e-12))
        assert listed == pytest.approx({name: row[page.names.index(name)] for name in listed}, rel=1e-2)

    first = page.browser.find_element("css selector", "#details li button")
    other = first.find_element("css selector", "span").get_attribute("title")
    first.click()
    assert page.heading() == other


def test_the_weight_filter_hides_edges(page):
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    page.element("fit").click()
    page.view()
    before = page.ink()
    page.slide("weight", 800)
    least = float(page.element("weight-value").text)
    shown, _, total = page.element("status").text.split(", ")[1].removesuffix(" edges").split(" ")
    assert int(total) == page.B.nnz
    assert int(shown) < page.B.nnz / 2
    weights = np.abs(page.B.data)
    assert (weights > least + 5e-3).sum() <= int(shown) <= (weights > least - 5e-3).sum()
    page.view()
    assert page.ink() < before
    page.slide("weight", 0)
    assert page.element("status").text.endswith(f", {page.B.nnz} edges")


def test_mouse_keys_and_buttons_move_and_zoom(page):
    canvas = page.element("canvas")
    page.element("fit").click()
    left, top, zoom = page.view()
    canvas.send_keys(webdriver.Keys.ARROW_LEFT)
    assert page.view() == pytest.approx([left + 60, top, zoom])
    canvas.send_keys("+")
    assert page.view()[2] > zoom
    page.element("zoom-out").click()
    assert page.view()[2] < 1.3 * zoom
    canvas.send_keys("0")
    assert page.view() == pytest.approx([left, top, zoom])
    # From a corner, where there is no variable.
    page.move_to(canvas.size["width"] - 15, 15).click_and_hold().move_by_offset(-40, 25).release().perform()
    assert page.view() == pytest.approx([left - 40, top + 25, zoom], abs=6)
    origin = webdriver.common.actions.wheel_input.ScrollOrigin.from_element(canvas)
    webdriver.ActionChains(page.browser).scroll_from_origin(origin, 0, -200).perform()
    assert page.view()[2] > zoom
    canvas.send_keys("/")
    assert page.browser.switch_to.active_element.get_attribute("id") == "search"


def test_two_fingers_zoom_where_they_are(page):
    page.element("fit").click()
    left, top, zoom = page.view()
    page.touch("touchStart", (380, 300))
    page.touch("touchStart", (380, 300), (420, 300))
    for spread in (30, 45, 60):
        page.touch("touchMove", (400 - spread, 300), (400 + spread, 300))
    page.touch("touchEnd")
    after = page.view()
    assert after[2] == pytest.approx(3 * zoom, rel=0.05)
    # What was between the fingers is still there.
    assert (400 - after[0]) / after[2] == pytest.approx((400 - left) / zoom, abs=12 / zoom)
    assert (300 - after[1]) / after[2] == pytest.approx((300 - top) / zoom, abs=12 / zoom)


def test_pointing_at_an_edge_tells_its_weight(page):
    e = int(np.argmax(np.abs(page.data["edges"]["weight"])))
    page.find(page.names[page.data["edges"]["source"][e]])
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    left, top, zoom = page.view()
    x, y = page.data["edges"]["route"][e][2:4]
    page.move_to(left + (x + 0.25) * zoom, top + y * zoom).perform()
    assert f"{page.names[page.data['edges']['source'][e]]} → " in page.element("tip").text


def test_variables_can_be_dragged_and_put_back(page):
    page.problems()
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    page.find(page.names[page.hub])
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    x, y = page.place(page.hub)
    view = page.view()
    canvas = page.element("canvas")
    page.move_to(x, y).click_and_hold().move_by_offset(30, 20).move_by_offset(150, 180).release().perform()
    assert page.view() == view
    page.move_to(x + 180, y + 200).click().perform()
    assert page.heading() == page.names[page.hub]
    canvas.send_keys("r")
    page.view()
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    page.find(page.names[page.hub])
    page.browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    page.click(page.hub)
    assert page.heading() == page.names[page.hub]
    assert page.problems() == []


def saved(page, button):
    """Press a button that saves a file; return its type, its size and its text."""
    return page.browser.execute_async_script(
        "const [button, done] = arguments, make = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => {"
        "  blob.text().then((text) => done([blob.type, blob.size, text])); URL.createObjectURL = make; return '#'; };"
        "button.click()",
        page.element(button),
    )


def test_the_whole_graph_is_saved_as_svg(page):
    kind, _, text = saved(page, "svg")
    assert kind == "image/svg+xml"
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text for title in root.iter(f"{space}title")]
    assert set(page.names) <= set(titles)
    assert len(list(root.iter(f"{space}rect"))) == len(page.names) + 1
    # A line and an arrowhead for each edge.
    assert len(list(root.iter(f"{space}path"))) == 2 * page.B.nnz


def test_what_is_shown_is_saved_as_png(page):
    kind, size, _ = saved(page, "png")
    assert kind == "image/png"
    assert size > 1000


def test_open_edges_and_evidence(browser, tmp_path):
    evidence = replace(
        EdgeEvidence.unknown(2),
        standardised=np.array([0.4, -0.9]),
        direction=np.array(["open", "compelled"], dtype="<U9"),
        stability=np.array([0.5, 1.0]),
    )
    page = Opened(browser, tmp_path, 3, B=[[0, 7.0, 1.0], [0, 0, 0], [0, 0, 0]], evidence=evidence, report="All rows.")
    assert page.element("headless").is_displayed()
    assert page.element("pale").is_displayed()
    rows = browser.find_elements("css selector", "#edges button")
    assert [row.text.split("\n")[0] for row in rows] == ["variable 0 → variable 2", "variable 0 — variable 1"]
    rows[1].send_keys(webdriver.Keys.ENTER)
    assert "open, it may point either way" in rows[1].text
    assert "resamples with this direction: 50 %" in rows[1].text
    page.find("variable 0")
    assert page.listed("either") == {"variable 1": 7.0}
    assert page.listed("children") == {"variable 2": 1.0}
    assert "none whose direction is claimed" in page.element("details").text
    assert "if all directions are as drawn" in page.element("details").text
    browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    browser.find_element("css selector", "#report summary").click()
    assert browser.find_element("css selector", "#report pre").text == "All rows."
    page.slide("weight", 800)
    assert page.element("status").text == "3 variables, 1 of 2 edges"
    assert len(list(ElementTree.fromstring(saved(page, "svg")[2]).iter("{http://www.w3.org/2000/svg}path"))) == 2
    page.slide("weight", 0)
    # A line for each, but one arrowhead.
    assert len(list(ElementTree.fromstring(saved(page, "svg")[2]).iter("{http://www.w3.org/2000/svg}path"))) == 3
    assert page.problems() == []


def test_keys_move_the_chosen_variable_and_show_numbers(browser, tmp_path):
    page = Opened(browser, tmp_path, 10)
    canvas = page.element("canvas")
    pressed = page.element("values").get_attribute("aria-pressed")
    canvas.send_keys("n")
    assert page.element("values").get_attribute("aria-pressed") != pressed
    page.find(page.names[page.hub])
    x, y = page.place(page.hub)
    zoom = page.view()[2]
    canvas.send_keys(webdriver.Keys.SHIFT, *[webdriver.Keys.ARROW_DOWN] * 4)
    page.view()
    browser.find_element("tag name", "body").send_keys(webdriver.Keys.ESCAPE)
    page.move_to(x, y + 4 * zoom).click().perform()
    assert page.heading() == page.names[page.hub]


MOVES = """
const [milliseconds, perFrame, done] = arguments;
const canvas = document.getElementById("canvas"), timers = [];
const [now, later, clear, nextFrame] = [performance.now, setTimeout, clearTimeout, requestAnimationFrame];
let drawings = 0, copies = 0, time = 0, moves = 0;
new MutationObserver((changes) => { drawings += changes.length; })
  .observe(canvas, { attributes: true, attributeFilter: ["data-view"] });
const drawImage = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (...given) {
  if (this.canvas === canvas) copies++;
  drawImage.apply(this, given);
};
// A clock by which a drawing takes so long, and timers that fire when they are told to.
performance.now = () => (time += milliseconds);
window.setTimeout = (call) => timers.push(call);
window.clearTimeout = (k) => { delete timers[k - 1]; };
const move = () => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
const frames = (then) => nextFrame(() => nextFrame(() => later(then)));
const finish = () => {
  const found = [drawings, copies];
  timers.forEach((call) => call());
  frames(() => {
    Object.assign(performance, { now });
    Object.assign(window, { setTimeout: later, clearTimeout: clear });
    CanvasRenderingContext2D.prototype.drawImage = drawImage;
    done([...found, drawings]);
  });
};
const step = () => {
  for (let k = 0; k < perFrame; k++, moves++) move();
  if (moves < 40) nextFrame(step); else frames(finish);
};
// The next drawing is the first by this clock.
canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
frames(() => { drawings = copies = 0; step(); });
"""


def test_moves_within_a_frame_are_drawn_once(page):
    assert page.browser.execute_async_script(MOVES, 1, 40)[::2] == [1, 1]
    page.view()


def test_a_slow_drawing_is_moved_as_a_picture_until_it_rests(page):
    assert page.browser.execute_async_script(MOVES, 1000, 1) == [0, 40, 1]
    page.view()


def test_on_a_narrow_screen_buttons_and_legend_cover_no_variable(browser, tmp_path):
    wide = browser.get_window_size()
    browser.set_window_size(500, 900)
    try:
        page = Opened(browser, tmp_path, 50)
        _, top, zoom = page.view()
        places = top + zoom * np.array(page.data["y"])
        buttons, legend = page.element("tools").rect, page.element("legend").rect
        assert buttons["width"] > buttons["height"]
        assert places.min() > buttons["y"] + buttons["height"]
        assert places.max() < legend["y"]
    finally:
        browser.set_window_size(wide["width"], wide["height"])


def test_light_and_dark(page):
    background = "return getComputedStyle(document.body).backgroundColor"
    light = page.browser.execute_script(background)
    page.element("theme").click()
    assert page.browser.execute_script(background) != light
    page.element("theme").click()
    assert page.browser.execute_script(background) == light


def test_names_are_never_run(browser, tmp_path):
    names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "<!-- <script>", "\u2028', alert(3)"]
    page = Opened(browser, tmp_path, 4, names)
    for i, name in enumerate(names):
        page.find(name)
        assert page.heading().split() == name.split()
        page.click(i)
    assert not browser.find_elements("css selector", "aside img, main img")
    assert page.problems() == []


def test_the_confidence_filter_hides_edges(browser, tmp_path):
    confidence = np.full((10, 10), 0.3)
    page = Opened(browser, tmp_path, 10, confidence=confidence)
    assert page.element("confidence").is_displayed()
    page.slide("confidence", 50)
    assert page.element("status").text == f"10 variables, 0 of {page.B.nnz} edges"
    page.slide("confidence", 30)
    assert page.element("status").text == f"10 variables, {page.B.nnz} edges"


def test_cycles_are_shown_and_named(browser, tmp_path):
    page = Opened(browser, tmp_path, 2, B=[[0, 2.0], [1.0, 0]])
    page.click(0)
    assert page.listed("parents") == {"variable 1": 1.0}
    assert page.listed("children") == {"variable 1": 2.0}
    assert "the graph has a cycle" in page.element("details").text
    assert page.problems() == []
