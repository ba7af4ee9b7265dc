"""The page of a report is one file: safe, complete, and legible for everyone."""

import base64
import hashlib
import re
import sys
import time
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.report import Check, InspectionReport, Section, Table
from sklearn_interpret.report._page import drawn, frame_page
from tests.test_site import browsed, browser  # noqa: F401

NASTY = [
    "<script>alert(1)</script>",
    """'"&amp;<b>""",
    "\u0627\u0644\u0639\u0645\u0631",
    "\N{GRINNING FACE}",
    "x" * 300,
    'id="i0" url(#i0) : #foobar $x^2',
]


def figure(caption, *, many=False, cells=False):
    """A drawing with texts, clipped marks, greys, and what is asked for."""
    fig, ax = plt.subplots(layout="constrained")
    ax.set_title("<script> & \u0627\u0644 \N{GRINNING FACE} url(#i0): #foobar")
    ax.scatter(np.arange(9), np.arange(9), c="#0072B2")
    ax.bar([1, 2], [1, 2], color="0.62", hatch="//")
    ax.grid()
    ax.text(1, 1, "white", color="white")
    if many:
        ax.scatter(np.arange(9000) / 9000, np.arange(9000), c="#D55E00")
    if cells:
        ax.pcolormesh(np.arange(4).reshape(2, 2))
    return drawn(fig, caption)


@pytest.fixture(scope="module")
def report():
    """A report whose every text is nasty."""
    model = make_pipeline(StandardScaler(), LinearRegression())
    # Twice the same drawing: ids differ nevertheless.
    drawings = [figure(name) for name in (NASTY[0], NASTY[1], NASTY[1])]
    table = {
        NASTY[0]: NASTY,
        "number": [1, 2.5, None, float("nan"), -1234.5, 1e-12],
        "share": ["4.3%", "10%", "0%", "1%", "2%", "100%"],
        "kind": [True, np.bool_(False), "a", pd.NA, np.float32(0.123456), [1]],
    }
    sections = [
        Section(
            f"section{k}",
            name,
            name,
            [drawings[k % 3], Table(table, name)],
            [name],
            name,
        )
        for k, name in enumerate(NASTY)
    ]
    sections.append(Section("overview", "Model and data", "One sentence."))
    verdicts = ["warned", "passed", "skipped"] * 2
    checks = [
        Check(f"check{k}", name, verdict, 0.5, 0.1, name, name)
        for k, (name, verdict) in enumerate(zip(NASTY, verdicts, strict=True))
    ]
    found = InspectionReport(FrozenEstimator(model), random_state=0)
    found.estimator_, found.checks_, found.sections_ = model, checks, sections
    found._seconds = {section.name: 0.5 for section in sections}
    return found


@pytest.fixture(scope="module")
def html(report):
    """The page of the report."""
    return report.to_html()


class Tags(HTMLParser):
    """Tags with their attributes, the text of each kind of element, and all text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.open = [], [], None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open = tag

    def handle_data(self, data):
        self.texts.append((self.open, data))


def test_names_are_texts(html):
    """No name makes an element, and each is seen as it is."""
    page = Tags(html)
    assert {"script", "b"}.isdisjoint(tag for tag, _ in page.tags)
    texts = [text.strip() for _, text in page.texts]
    for name in NASTY:
        assert texts.count(name) > 3


def test_ids_are_unique_and_links_lead_to_them(html):
    tags = Tags(html).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for _, attributes in tags if "href" in attributes}
    values = " ".join(str(v) for _, attributes in tags for v in attributes.values())
    links |= set(re.findall(r"url\((#f\d[^)]*)\)", values))
    labels = {a["aria-labelledby"] for _, a in tags if "aria-labelledby" in a}
    assert {link.removeprefix("#") for link in links} | labels <= set(ids)
    assert len(links) > len(NASTY)


def test_policy_allows_what_is_there_and_nothing_else(html):
    """Styles stand in one element whose hash the policy names; there is no script."""
    tags = Tags(html).tags
    assert [tag for tag, _ in tags].count("style") == 1
    assert not any("style" in attributes for _, attributes in tags)
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [a["content"] for _, a in tags if "http-equiv" in a]
    assert f"style-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'")
    assert not any(name.startswith("on") for _, a in tags for name in a)


def test_page_loads_nothing(html):
    """Whatever looks like an address is the name of a namespace, or within the page."""
    assert set(re.findall("https?:[^\" ']*", html)) == {"http://www.w3.org/2000/svg"}
    for _, attributes in Tags(html).tags:
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert "@import" not in html


def test_drawings_are_xml_with_a_title_and_without_styles(html):
    drawings = re.findall('<svg (?!class="scale").*?</svg>', html, re.DOTALL)
    assert len(drawings) == len(NASTY)
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        space = {"": "http://www.w3.org/2000/svg"}
        assert root.get("role") == "img"
        assert root.find("title", space).text in NASTY
        assert root.find(".//style", space) is None
        assert root.find(".//metadata", space) is None
        texts = ["".join(text.itertext()) for text in root.findall(".//text", space)]
        assert any("<script> & " in text and ": #foobar" in text for text in texts)


def test_colours_are_attributes():
    """The page has one drawing for light and dark, which its style inverts."""
    space = {"": "http://www.w3.org/2000/svg"}
    root = ElementTree.fromstring(figure("", cells=True).svg)
    fills = {node.get("fill") for node in root.iter()}
    assert {"#0072b2", "#9e9e9e", "#ffffff"} <= fills
    (white,) = [t for t in root.findall(".//text", space) if t.text == "white"]
    assert white.get("fill") == "#ffffff"
    assert float(white.get("font-size").removesuffix("px")) == 10


def test_many_points_are_pixels():
    many = figure("", many=True)
    assert 'href="data:image/png;base64' in many.svg
    assert len(many.svg) < 100_000


def test_drawings_are_the_same_each_time():
    assert figure("one").svg == figure("one").svg


def test_drawing_closes_its_figure():
    before = plt.get_fignums()
    figure("one")
    assert plt.get_fignums() == before


def test_tables_have_headers_and_numbers_to_read(html):
    body = re.search("<table>.*?</table>", html, re.DOTALL)[0]
    page = Tags(body)
    scopes = [attributes["scope"] for tag, attributes in page.tags if tag == "th"]
    assert scopes == ["col"] * 4 + ["row"] * len(NASTY)
    kinds = [attributes["class"] for tag, attributes in page.tags if tag == "td"]
    assert kinds == ["number", "number", "text"] * len(NASTY)
    cells = re.findall("<td[^>]*><bdi>(.*?)</bdi>", body)
    none, minus = "\N{EN DASH}", "\N{MINUS SIGN}"
    assert cells[::3] == ["1", "2.5", none, none, f"{minus}1234", f"1e{minus}12"]
    assert cells[2::3] == ["yes", "no", "a", none, "0.123", "[1]"]


def test_page_tells_verdicts_and_how_it_was_computed(html):
    text = " ".join("".join(text for _, text in Tags(html).texts).split())
    for verdict in ("\u25b2 2 warned", "\u2713 2 passed", "\u2013 2 skipped"):
        assert verdict in text
    assert "StandardScaler \u2192 LinearRegression" in text
    assert f"numpy {np.__version__}" in text
    assert "3.5 s in all" in text
    assert "random_state 0" in text


def test_page_says_that_no_check_warns(report):
    calm = InspectionReport(report.estimator, checks=[])
    calm.estimator_, calm.sections_, calm._seconds = report.estimator_, [], {}
    calm.checks_ = [one for one in report.checks_ if one.verdict == "passed"]
    assert "<p>No check warns.</p>" in calm.to_html()
    calm.checks_ = []
    assert 'id="checks"' not in calm.to_html()


def test_frame_holds_the_page(html, report):
    (frame,) = Tags(frame_page(html)).tags
    assert frame[0] == "iframe"
    inside = frame[1]["srcdoc"]
    assert inside.replace('"about:srcdoc#', '"#') == html
    assert frame[1]["sandbox"] is None
    assert frame[1]["title"]
    assert report._repr_html_() == frame_page(html)


def test_page_is_saved(html, report, tmp_path):
    report.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html


def test_missing_jinja2_is_named(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"sklearn-interpret\[report\]"):
        report.to_html()


@browsed
@pytest.mark.parametrize("width", [390, 1440])
def test_browser_shows_all_of_it(browser, html, tmp_path, width):  # noqa: F811
    """Nothing is wider than the window; styles apply, and the console is silent."""
    path = tmp_path / "report.html"
    path.write_text(html, "utf-8")
    browser.resize(width)
    browser.open(path.as_uri())
    run = browser.run
    assert run("return document.documentElement.scrollWidth <= innerWidth")
    assert run("return getComputedStyle(document.body).maxWidth") == "992px"
    assert browser.complaints() == []


@browsed
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_drawings_are_dark_on_dark_pages(browser, html, tmp_path, scheme):  # noqa: F811
    """Their ink is seen on the paper of the page."""
    path = tmp_path / "report.html"
    path.write_text(html, "utf-8")
    feature = {"name": "prefers-color-scheme", "value": scheme}
    command = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [feature]}}
    browser.ask("/goog/cdp/execute", command)
    browser.open(path.as_uri())
    style = "return getComputedStyle(document.querySelector('.drawing')).filter"
    assert (browser.run(style) == "none") == (scheme == "light")


@browsed
def test_links_stay_within_a_frame(browser, html, tmp_path):  # noqa: F811
    """A link of the page scrolls it, and does not load the notebook in its place."""
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{frame_page(html)}", "utf-8")
    browser.open(path.as_uri())
    browser.ask("/frame", {"id": 0})
    browser.run("document.querySelector('nav li:nth-child(4) a').click()")
    for _ in range(100):
        if browser.run("return scrollY"):
            break
        time.sleep(0.05)
    assert browser.run("return document.title").startswith("Inspection of")
    assert browser.run("return location.hash") == "#section2"
    assert browser.complaints() == []


def test_marks_of_a_rug_are_a_few_paths():
    fig, ax = plt.subplots(layout="constrained")
    ax.vlines(np.arange(60.0), 0, 1, colors="#0072B2", alpha=0.5)
    root = ElementTree.fromstring(drawn(fig, "Rug").svg)
    marks = [
        path.get("d")
        for path in root.iter("{http://www.w3.org/2000/svg}path")
        if path.get("stroke") == "#0072b2"
    ]
    assert len(marks) == 4
    assert sum(d.count("M") for d in marks) == 60
