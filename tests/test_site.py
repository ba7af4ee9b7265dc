"""The built site: its internal links lead somewhere, and a browser is content with it.

``.ci/run`` builds the site before it runs these tests; CONTRIBUTING.md has the command.
"""

import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.test_glossary import NAMES, names_of

SITE = Path(__file__).parents[1] / "doc" / "_build" / "html"
# Templates of the theme lie in a folder of their own.
PAGES = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]
built = pytest.mark.skipif(
    not (SITE / "search.html").is_file(), reason="the site is not built"
)
browsed = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="chromium is not installed",
)


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.targets = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self.targets |= {values[key] for key in ("href", "src") if values.get(key)}
        for one in filter(None, (values.get("srcset") or "").split(",")):
            self.targets.add(one.split()[0])


@built
def test_internal_links_lead_to_files_and_anchors():
    """Every link and every picture of every page is there."""
    pages = {path.resolve(): Page(path) for path in PAGES}
    broken = set()
    for path, page in pages.items():
        for target in page.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(url.path)).resolve()
            to = to if url.path else path
            there = to.is_file() and (
                not url.fragment
                or to not in pages
                or urllib.parse.unquote(url.fragment) in pages[to].anchors
            )
            if not there:
                broken.add((path.name, target))
    assert sorted(broken) == []


@built
def test_pages_ask_nothing_of_other_sites():
    """Scripts, styles and pictures are the site's own, so that it needs no network."""
    loaded = re.compile(
        r"<(?:script|img|link rel=\"stylesheet\")[^>]*?(?:src|href)=\"(//|http)"
    )
    assert [path.name for path in PAGES if loaded.search(path.read_text())] == []


# The usual names of the methods, and the page of the API that each leads to.
METHODS = {
    "PDP": "effects.PartialDependence",
    "partial dependence": "effects.PartialDependence",
    "ICE": "effects.IndividualConditionalExpectation",
    "c-ICE": "effects.IndividualConditionalExpectation",
    "ceteris paribus profile": "effects.CeterisParibusDisplay",
    "what-if curve": "effects.CeterisParibusDisplay",
    "ALE": "effects.AccumulatedLocalEffects",
    "RHALE": "effects.AccumulatedLocalEffects",
    "REPID": "effects.RegionalEffects",
    "GADGET": "effects.RegionalEffects",
    "regional effect plot": "effects.RegionalEffects",
    "subgroup": "effects.RegionalEffects",
    "M-plot": "effects.ConditionalDependence",
    "H statistic": "interactions.HStatistic",
    "Greenwell": "interactions.PartialDependenceInteraction",
    "VIN": "interactions.VariableInteractionNetwork",
    "functional ANOVA": "interactions.VariableInteractionNetwork",
    "functional decomposition": "interactions.FunctionalDecomposition",
    "k-SII": "interactions.FunctionalDecomposition",
    "SAGE": "importance.SAGE",
    "permutation importance": "importance.PermutationImportance",
    "conditional importance": "importance.PermutationImportance",
    "LOCO": "importance.DropColumnImportance",
    "GCM": "importance.ConditionalImportanceTest",
    "conditional independence": "importance.ConditionalImportanceTest",
    "PIMP": "importance.PermutationTest",
    "SHAP": "shapley.ShapleyValues",
    "TreeSHAP": "shapley.TreeSHAP",
    "KernelSHAP": "shapley.KernelSHAP",
    "LinearSHAP": "shapley.LinearSHAP",
    "Shapley sampling": "shapley.ShapleySampling",
    "break-down": "shapley.BreakDown",
    "waterfall": "shapley.ShapleyWaterfallDisplay",
    "beeswarm": "shapley.ShapleySummaryDisplay",
    "force plot": "shapley.ShapleyForceDisplay",
    "global surrogate": "surrogates.GlobalSurrogate",
    "LIME": "surrogates.LimeTabular",
    "LIME for texts": "surrogates.LimeText",
    "LIME for images": "surrogates.LimeImage",
    "Wachter": "counterfactuals.WachterCounterfactual",
    "growing spheres": "counterfactuals.GrowingSpheres",
    "counterfactual": "counterfactuals.ExactCounterfactual",
    "anchors": "counterfactuals.Anchors",
    "FGSM": "adversarial.FastGradientSign",
    "PGD": "adversarial.ProjectedGradient",
    "DeepFool": "adversarial.MinimalPerturbation",
    "HopSkipJump": "adversarial.HopSkipJump",
    "one-pixel attack": "adversarial.OnePixelAttack",
    "adversarial patch": "adversarial.AdversarialPatch",
    "substitute model": "adversarial.SubstituteAttack",
    "MMD-critic": "prototypes.MMDCritic",
    "k-medoids": "prototypes.KMedoids",
    "influence functions": "influence.InfluenceFunctions",
    "deletion diagnostics": "influence.DeletionDiagnostics",
    "Cook's distance": "influence.RegressionInfluence",
    "DFBETAS": "influence.RegressionInfluence",
    "odds ratio": "linear.CoefficientInference",
    "lasso path": "linear.SparsePathDisplay",
    "GAM": "additive.GAMRegressor",
    "treeinterpreter": "decomposition.TreePathContributions",
    "naive Bayes": "decomposition.NaiveBayesContributions",
    "kNN": "decomposition.NeighborContributions",
    "OneR": "rules.OneRClassifier",
    "RIPPER": "rules.RIPPERClassifier",
    "SBRL": "rules.BayesianRuleListClassifier",
    "Bayesian rule list": "rules.BayesianRuleListClassifier",
    "RuleFit": "rules.RuleFitRegressor",
    "skope rules": "rules.SkopeRulesClassifier",
}


def rows_and_cards(path):
    """Return the words and the addresses of each row of a table and each card."""
    text = path.read_text(encoding="utf-8")
    for part in re.split(r'(?=<tr\b|<div class="sd-card sd)', text)[1:]:
        words = html.unescape(re.sub("<wbr>|<[^>]*>", "", part.partition("</tr>")[0]))
        yield (
            words.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold(),
            re.findall('href="([^"#]*)', part),
        )


@built
def test_each_method_is_two_clicks_from_home_under_its_usual_name():
    """A card of the home page, or a row one click away, names it and leads to it."""
    near = [*rows_and_cards(SITE / "index.html"), *rows_and_cards(SITE / "api.html")]
    assert "api.html" in Page(SITE / "index.html").targets
    missing = []
    for name, of in METHODS.items():
        target = f"generated/sklearn_interpret.{of}.html"
        words = re.compile(rf"\b{re.escape(name.casefold())}s?\b")
        if not any(target in links and words.search(text) for text, links in near):
            missing.append(name)
    assert missing == []


@built
def test_pictures_have_alternative_texts():
    """Each says what it shows, to who cannot see it."""
    bare = re.compile(r"<img (?![^>]*alt=\"[^\"]{3})[^>]*>")
    assert [
        (path.name, found)
        for path in PAGES
        for found in bare.findall(path.read_text(encoding="utf-8"))
    ] == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture(scope="module")
def address():
    """Serve the site, and return its address."""
    handler = functools.partial(Quiet, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Browser:
    """Chromium, driven by the few words of the WebDriver protocol that are needed."""

    def __init__(self, port, profile):
        self.root = f"http://127.0.0.1:{port}/session"
        arguments = "headless no-sandbox disable-gpu disable-quic no-first-run"
        arguments += (
            " disable-background-networking disable-component-update disable-sync"
        )
        options = {
            "args": [
                *(f"--{one}" for one in arguments.split()),
                f"--user-data-dir={profile}",
            ]
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self.ask("", {"capabilities": {"alwaysMatch": wanted}})
        self.root += f"/{made['sessionId']}"

    def ask(self, what, data=None, method=None):
        """Send a command, and return its value."""
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.root + what, body, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        """Go to a page."""
        self.ask("/url", {"url": url})

    def resize(self, width):
        """Give the page a width, down to that of a phone."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": size}
        self.ask("/goog/cdp/execute", command)

    def run(self, script):
        """Return what a script on the page returns."""
        return self.ask("/execute/sync", {"script": script, "args": []})

    def complaints(self):
        """Return what the console says since it was last asked."""
        log = self.ask("/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] != "INFO"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser without a window."""
    command = ["chromedriver", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        for line in driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                break
        one = Browser(found[1], tmp_path_factory.mktemp("profile"))
        yield one
        one.ask("", method="DELETE")
        driver.terminate()


@built
@browsed
@pytest.mark.parametrize(
    "page, heading",
    [
        ("index.html", "sklearn_interpret"),
        ("user_guide/effects.html", "Feature effects"),
        ("auto_examples/effects/plot_correlated_features.html", "features"),
        (
            "generated/sklearn_interpret.effects.AccumulatedLocalEffects.html",
            "AccumulatedLocalEffects",
        ),
    ],
)
def test_page_is_drawn_without_complaint(browser, address, page, heading):
    """A page has its heading and its pictures, and the console stays silent."""
    browser.open(f"{address}/{page}")
    assert heading in browser.run("return document.querySelector('h1').innerText")
    empty = (
        "return [...document.images].filter(i => i.complete && !i.naturalWidth).length"
    )
    assert browser.run(empty) == 0
    assert browser.run("return document.images.length") > 0
    assert browser.complaints() == []


@built
@browsed
@pytest.mark.parametrize("name", METHODS)
def test_search_finds_a_method_by_its_usual_name(browser, address, name):
    """Who looks for ALE comes to its class."""
    browser.open(f"{address}/search.html?q={urllib.parse.quote(name)}")
    links = (
        "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    )
    for _ in range(100):
        found = browser.run(links)
        if any(f"{METHODS[name]}.html" in link for link in found):
            break
        time.sleep(0.1)
    else:
        pytest.fail(f"search finds {found}")
    assert browser.complaints() == []


@built
@browsed
@pytest.mark.parametrize("page", NAMES)
def test_search_finds_a_page_first_by_usual_names(browser, address, page):
    """The page of each name is among the first two results."""
    browser.open(f"{address}/search.html?q={page}")
    for _ in range(100):
        if browser.run("return Search.hasIndex()"):
            break
        time.sleep(0.1)
    missed = {}
    for name in names_of(page):
        query = f"Search._parseQuery({json.dumps(name)})"
        found = browser.run(f"return Search._performSearch(...{query})")
        best = [result[0] for result in found[-1:-3:-1]]
        if f"user_guide/{page}" not in best:
            missed[name] = best
    assert missed == {}


# What is wider than the window: the page; a cell, or what it holds; code and formulas
# that do not scroll in a box of their own.
CUT = """
const wide = [], width = innerWidth;
if (document.documentElement.scrollWidth > width) wide.push('the page');
for (const one of document.querySelectorAll(
       '.bd-article :is(td, th, code, math, dt, h1, h2, h3, img)')) {
  const box = one.getBoundingClientRect();
  const cell = one.closest('td, th');
  const scrolls = !cell && one.closest('pre, div.math');
  if (!box.width) continue;
  const left = scrolls ? scrolls.getBoundingClientRect().left : 0;
  if (box.left < left - 1
      || !scrolls && (box.right > width + 1
                      || one === cell && one.scrollWidth > one.clientWidth + 1))
    wide.push(one.tagName + ': ' + one.textContent.slice(0, 40));
}
return wide;
"""


@built
@browsed
@pytest.mark.parametrize("first", [0, 1])
def test_nothing_is_cut_off(browser, address, first):
    """Pages and their tables fit into the window of a phone and of a desk."""
    cut = {}
    for path in PAGES[first::2]:
        page = path.relative_to(SITE).as_posix()
        browser.open(f"{address}/{page}")
        for width in (390, 1440):
            browser.resize(width)
            if found := browser.run(CUT):
                cut[page, width] = found
    assert cut == {}
