"""The HTML page of a report: its template is filled, drawings become inline SVG."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections import Counter
from importlib import import_module
from io import StringIO
from itertools import count
from numbers import Real
from platform import python_version
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.rows.number_format import number_text, value_text
from sklearn_interpret.report._results import Figure

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


_SVG = "http://www.w3.org/2000/svg"
# Artists of more points are drawn as pixels, of this resolution: as paths they would
# make the page large and slow.
_MOST_POINTS = 5000
_DPI = 200
# More separate lines of one colour, such as those of a rug, are drawn as a few paths,
# so that pages are small. Lines of several paths still darken where they overlap.
_MOST_MARKS, _MARK_PATHS = 40, 4
# Style classes of drawings by their least width in points: wide ones scroll on phones,
# where text stays legible.
_LEAST_WIDTHS = {"wide": 420, "wider": 640}
# Texts stay texts, and ids are the same in each run.
_SVG_PARAMETERS = {"svg.fonttype": "none", "svg.hashsalt": "report"}
# Characters that XML forbids: controls, and halves of surrogate pairs.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(
    r"[-+\N{MINUS SIGN}]?\d[\d.,]*(e[-+\N{MINUS SIGN}]?\d+)? ?%?|\N{EN DASH}"
)


def page_html(report: Any) -> str:
    """Page of HTML that shows a fitted report."""
    try:
        jinja2 = import_module("jinja2")
    except ImportError as error:
        raise ImportError(
            "The page of InspectionReport needs jinja2; install it with "
            '`pip install "sklearn-interpret[report]"`.'
        ) from error
    loader = jinja2.PackageLoader("sklearn_interpret.report", "")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    style, *_ = loader.get_source(environment, "page.css")
    numbers = count()
    environment.filters["inline"] = lambda figure: _with_ids(figure.svg, next(numbers))
    environment.filters["cell"] = _cell_text
    environment.tests["number"] = lambda cells: all(map(_NUMBER.fullmatch, cells))
    digest = hashlib.sha256(style.encode()).digest()
    html_of_page = environment.get_template("page.html.jinja").render(
        report=report,
        model=_model_name(report.estimator_),
        style=style,
        style_hash=base64.b64encode(digest).decode(),
        verdicts=Counter(check.verdict for check in report.checks_),
        versions=_library_versions(),
    )
    return _replace_forbidden(html_of_page)


def _replace_forbidden(text: str) -> str:
    """The text with replacement characters in place of those that XML forbids."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def frame_page(html_of_page: str) -> str:
    """Frame with a page, for a notebook."""
    # In a frame, links within the page would lead to the page around it.
    inside = html_of_page.replace('<a href="#', '<a href="about:srcdoc#')
    return (
        '<iframe title="Inspection report" sandbox width="100%" height="700" '
        f'style="border: 1px solid #8888" srcdoc="{html.escape(inside)}"></iframe>'
    )


def _with_ids(svg: str, number: int) -> str:
    """The drawing with its number in all ids, which are then unique in the page."""
    id_start = re.compile(r'( id="| href="#|"url\(#)')
    # Only within tags: texts may look like ids.
    return re.sub("<[^>]+>", lambda tag: id_start.sub(rf"\1f{number}-", tag[0]), svg)


def _model_name(model: BaseEstimator) -> str:
    """Name of a model's class, and of its steps."""
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    steps = getattr(model, "steps", [("", model)])
    names = (type(step).__name__ for _, step in steps if hasattr(step, "fit"))
    return " \N{RIGHTWARDS ARROW} ".join(names)


def _library_versions() -> dict[str, str]:
    """Versions of the libraries that compute a report, by name."""
    names = "sklearn_interpret", "sklearn", "numpy", "scipy", "matplotlib"
    versions = {name: import_module(name).__version__ for name in names}
    return {**versions, "Python": python_version()}


def _cell_text(value: float | str) -> str:
    """Text of a cell of a table: numbers with three significant digits."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str):
        return value
    if str(value) in ("None", "nan", "NaT", "<NA>"):
        return "\N{EN DASH}"
    if isinstance(value, bool) or not isinstance(value, Real):
        return {"True": "yes", "False": "no"}.get(str(value), str(value))
    return value_text(value) if isinstance(value, int) else number_text(float(value))


# Drawings


def drawn(figure: Any, caption: str) -> Figure:
    """A figure of matplotlib, or of a display, as part of a page; it is closed."""
    figure = getattr(figure, "figure_", figure)
    figure.patch.set(facecolor="none", edgecolor="none")
    for ax in figure.axes:
        ax.patch.set(facecolor="none", edgecolor="none")
        # The layout would find the ticks again for each spine; axes and labels count.
        ax.spines[:].set_in_layout(False)
        for artist in ax.collections:
            n_points = sum(map(len, artist.get_paths()))
            if max(n_points, len(artist.get_offsets())) > _MOST_POINTS:
                artist.set_rasterized(True)
            elif n_points == 2 * len(artist.get_paths()) > 2 * _MOST_MARKS:
                _merge_marks(artist)
        for axis in (ax.xaxis, ax.yaxis):
            if not axis.get_label_text():
                axis.set_label_coords(0, 0)  # else it is placed by the tick labels
    figure.set_dpi(_DPI)
    out = StringIO()
    canvas = import_module("matplotlib.backends.backend_svg").FigureCanvasSVG(figure)
    with import_module("matplotlib").rc_context(_SVG_PARAMETERS):
        # `savefig` would draw twice, once for the layout.
        canvas.print_svg(out)
    import_module("matplotlib.pyplot").close(figure)
    return Figure(_as_inline_svg(out.getvalue(), caption), caption)


def _merge_marks(marks: Any) -> None:
    """Draw lines of two points each as a few paths, if they look the same."""
    looks = marks.get_edgecolor(), marks.get_linewidth()
    if hasattr(marks, "get_segments") and all(len(look) == 1 for look in looks):
        paths = marks.get_paths()
        lines = [np.vstack([path.vertices, [[np.nan] * 2]]) for path in paths]
        parts = (lines[k::_MARK_PATHS] for k in range(_MARK_PATHS))
        marks.set_paths(list(map(np.concatenate, parts)))


def _as_inline_svg(text: str, caption: str) -> str:
    """matplotlib's SVG as part of a page whose policy forbids styles in attributes."""
    text = re.sub(r"<(style|metadata).*?</\1>", "", text, flags=re.DOTALL)
    root = ElementTree.fromstring(_replace_forbidden(text))
    referenced = set(re.findall(r"#([\w.-]+)", text))
    for node in root.iter():
        node.tag = node.tag.removeprefix(f"{{{_SVG}}}")
        node.attrib = _svg_attributes(node)
        # Groups of artists may have the same name, and no page has an id twice.
        if node.get("id") not in referenced:
            node.attrib.pop("id", None)
    width = float(root.attrib["viewBox"].split()[2])
    wide = [name for name, least in _LEAST_WIDTHS.items() if width > least]
    root.attrib |= {"role": "img", "class": " ".join(["drawing", *wide]), "xmlns": _SVG}
    ElementTree.SubElement(root, "title").text = _replace_forbidden(caption)
    return ElementTree.tostring(root, encoding="unicode")


def _svg_attributes(node: Any) -> dict[str, str]:
    """Attributes of a node and of its style, with two decimals."""
    attributes = {key.rpartition("}")[2]: value for key, value in node.items()}
    attributes |= re.findall(r"([\w-]+): *([^;]+)", attributes.pop("style", ""))
    # matplotlib < 3.10 writes all of the font into one.
    if font := re.search(r"[\d.]+px", attributes.pop("font", "")):
        attributes["font-size"] = font[0]
    for key, value in attributes.items():
        attributes[key] = re.sub(
            r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", value
        )
    return attributes
