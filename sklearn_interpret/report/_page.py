"""The page of a report: a template filled, and drawings made part of it."""

import base64
import hashlib
import html
import math
import re
import sys
from collections import Counter
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from io import StringIO
from numbers import Real
from xml.etree import ElementTree

from sklearn.frozen import FrozenEstimator

from sklearn_interpret.report._results import Figure

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
# Artists of more points than this are drawn as pixels, of this resolution: as paths they
# would make the page large and slow.
_MOST_POINTS, _DPI = 5000, 200
# Units of a drawing that fit a phone; wider ones scroll there, so that text is legible.
_PHONE = 420
# Where text stands on a mark of a colour, both keep their colours on dark pages.
_ON_COLOUR = "on-colour"
_NUMBER = re.compile(r"[-+\N{MINUS SIGN}]?\d[\d.,]*(e[-+]?\d+)? ?%?|\N{EN DASH}")


def page(report):
    """Page of HTML that shows a fitted report."""
    try:
        jinja2 = import_module("jinja2")
    except ImportError as error:
        raise ImportError(
            "The page of InspectionReport needs jinja2; install it with "
            '`pip install "sklearn-interpret[report]"`.'
        ) from error
    folder = files("sklearn_interpret.report")
    template, style = (
        folder.joinpath(name).read_text(encoding="utf-8")
        for name in ("page.html.jinja", "page.css")
    )
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    shown = Counter()

    def inline(figure):
        """The drawing, with ids that no other drawing of the page has."""
        shown["figures"] += 1
        return jinja2.utils.markupsafe.Markup(
            _prefixed(figure.svg, f"f{shown['figures']}-")
        )

    environment.filters |= {"inline": inline, "cell": _cell}
    environment.tests["number"] = lambda cells: all(map(_NUMBER.fullmatch, cells))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.from_string(template).render(
        report=report,
        model=_model_name(report.estimator_),
        style=jinja2.utils.markupsafe.Markup(style),
        style_hash=digest,
        verdicts=Counter(check.verdict for check in report.checks_),
        versions=_versions(),
    )


def framed(html_of_page):
    """Frame with a page, for a notebook."""
    return (
        '<iframe title="Inspection report" sandbox width="100%" height="700" '
        f'style="border: 1px solid #8888" srcdoc="{html.escape(html_of_page)}">'
        "</iframe>"
    )


def _prefixed(svg, prefix):
    """The drawing with other ids, and references to them; texts are left alone."""
    reference = re.compile(r'( id="| href="#|"url\(#)')
    return re.sub(
        "<[^>]+>", lambda tag: reference.sub(rf"\g<1>{prefix}", tag[0]), svg
    )


def _model_name(model):
    """Name of a model's class, and of its steps."""
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    steps = getattr(model, "steps", [])
    names = [type(step).__name__ for _, step in steps if hasattr(step, "fit")]
    return " \N{RIGHTWARDS ARROW} ".join(names or [type(model).__name__])


def _versions():
    """Versions of what computes a report, by name."""
    names = "sklearn-interpret", "scikit-learn", "numpy", "scipy", "matplotlib"
    python = ".".join(map(str, sys.version_info[:3]))
    return {name: version(name) for name in names} | {"Python": python}


def _cell(value):
    """Text of a cell of a table: numbers with three significant digits."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:
        return "\N{EN DASH}"
    if isinstance(value, bool) or not isinstance(value, Real):
        return {True: "yes", False: "no"}.get(value, str(value))
    if isinstance(value, int) or math.isinf(value):
        text = f"{value:,}"
    else:
        text = f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if value < 0 else text


# Drawings


def drawn(figure, caption):
    """A figure of matplotlib, or of a display, as part of a page; it is closed."""
    figure = getattr(figure, "figure_", figure)
    matplotlib = import_module("matplotlib")
    figure.draw_without_rendering()
    _mark_texts_on_colours(figure)
    for artist in figure.findobj(lambda artist: _n_points(artist) > _MOST_POINTS):
        artist.set_rasterized(True)
    out = StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "report"}):
        figure.savefig(out, format="svg", transparent=True, dpi=_DPI, metadata=nothing)
    import_module("matplotlib.pyplot").close(figure)
    return Figure(_inline_svg(out.getvalue(), caption), caption)


def _n_points(artist):
    """Number of points of a collection; of other artists none are counted."""
    if not hasattr(artist, "get_offsets"):
        return 0
    return max(len(artist.get_offsets()), sum(map(len, artist.get_paths())))


def _mark_texts_on_colours(figure):
    """Mark the texts of axes that stand on an opaque mark of a colour."""
    event_of = import_module("matplotlib.backend_bases").MouseEvent
    to_rgba = import_module("matplotlib.colors").to_rgba_array
    for ax in figure.axes:
        marks = [*ax.patches, *ax.collections, *ax.images]
        for text in ax.texts:
            box = text.get_window_extent()
            event = event_of(
                "motion_notify_event", figure.canvas, *(box.min + box.max) / 2
            )
            own = text.get_bbox_patch()
            for mark in [own] * (own is not None) + [
                mark for mark in marks if mark.get_visible() and mark.contains(event)[0]
            ]:
                colours = (
                    to_rgba(mark.get_facecolor())
                    if hasattr(mark, "get_facecolor")
                    else [[0, 1, 0, 1]]
                )
                if any(len(set(c[:3])) > 1 and c[3] > 0.6 for c in colours):
                    text.set_gid(_ON_COLOUR)


def _inline_svg(text, caption):
    """matplotlib's SVG as part of a page whose policy forbids styles in attributes."""
    root = ElementTree.fromstring(text)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    _rewrite(root, used, fixed=False)
    *_, width, height = root.get("viewBox").split()
    for name in ("height", "version"):
        root.attrib.pop(name)
    kind = "drawing wide" if float(width) > _PHONE else "drawing"
    root.attrib |= {"role": "img", "class": kind, "fill": "currentColor"}
    root.attrib |= {"width": f"{1.25 * float(width):.0f}", "stroke-linejoin": "round"}
    title = ElementTree.Element(f"{_SVG}title")
    title.text = caption
    root.insert(0, title)
    ElementTree.register_namespace("", _SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


def _rewrite(node, used, fixed):
    """Give a node and all below it attributes in place of styles, and fewer bytes."""
    name, given = node.tag.removeprefix(_SVG), node.attrib
    fixed |= given.get("id") == _ON_COLOUR
    if given.get("id") not in used:
        given.pop("id", None)
    given |= _style(given.pop("style", ""))
    if f"{_XLINK}href" in given:
        given["href"] = given.pop(f"{_XLINK}href")
    for key in given.keys() & {"d", "x", "y"}:
        given[key] = re.sub(r"-?\d+\.\d+", _rounded, " ".join(given[key].split()))
    if fixed:
        given.setdefault("fill", "#000000") if name == "text" else None
    else:
        classes = [_grey(kind, given.get(kind), name) for kind in ("fill", "stroke")]
        if any(classes):
            given["class"] = " ".join(filter(None, classes))
    if name not in ("text", "tspan"):
        node.text = None
    for child in list(node):
        if child.tag == f"{_SVG}style":
            node.remove(child)
        _rewrite(child, used, fixed)
        child.tail = None if name != "text" else child.tail


def _style(text):
    """Attributes that stand for a style; fonts are the page's."""
    pairs = (part.partition(":")[::2] for part in text.split(";"))
    found = {key.strip(): value.strip() for key, value in pairs}
    # matplotlib < 3.10 writes all of the font into one.
    font = re.match(r"(italic )?(?:(\d+|bold) )?([\d.]+px)", found.pop("font", ""))
    if font:
        keys = "font-style", "font-weight", "font-size"
        found |= {k: v.strip() for k, v in zip(keys, font.groups(), strict=True) if v}
    left_out = "", "font-family", "image-rendering"
    return {key: value for key, value in found.items() if key not in left_out}


def _grey(kind, colour, name):
    """Class of a grey: its share of ink, in tenths; white text stands on a colour."""
    match = re.fullmatch(r"#(..)\1\1", colour or "")
    if not match or (name == "text" and match[1] == "ff"):
        return None
    return f"{kind[0]}{10 - round(int(match[1], 16) / 25.5)}"


def _rounded(match):
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
