"""Figures that the examples of a page draw are put behind them.

The doctest blocks of a page run in order, in one namespace, while the page is read, up
to the last that draws. What they print is compared elsewhere, by pytest. An unexpected
error fails the build. ``-D plot_gallery=0`` runs none of them.

Figures are drawn no wider than the column of text: the browser would shrink a wider
one, and its letters. One that the code of a page still makes wider is warned of.
"""

import doctest
import os
import re
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import matplotlib
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.logging import getLogger

logger = getLogger(__name__)

COLUMN = 7.2  # inches of the column of text, whose 720 pixels site.css does not change
INCH = 200  # pixels of a saved figure, two for each that is shown
MARGIN = 0.04  # inches around what is drawn: matplotlib's, within constrained layouts


def narrowed(make):
    """Return `plt.figure`, but for widths above the column's."""

    def figure(*args, figsize=None, **kwargs):
        if figsize is not None:
            figsize = min(figsize[0], COLUMN), figsize[1]
        return make(*args, figsize=figsize, **kwargs)

    return figure


def described(figure):
    """Return what a figure shows, by its titles and labels."""
    labels = []
    for ax in figure.axes:
        x, y = ax.get_xlabel(), ax.get_ylabel()
        over = f"{y} against {x}" if x and y else x or y
        labels += [": ".join(filter(None, [ax.get_title(), over]))]
    words = " ".join("; ".join(dict.fromkeys(filter(None, labels))).split())
    return words.replace("$", "")[:240]


def alt_text(figure, source):
    """Return which Display drew a figure, and what stands at its axes."""
    drawn = re.findall(r"\b(\w+Display)\b", source)
    return ": ".join(filter(None, [*drawn[-1:], described(figure)])) or "Figure"


class Figures(SphinxTransform):
    """Run the examples of a page, and put the figures that they leave open behind."""

    default_priority = 800  # before Sphinx looks for images

    def apply(self):
        import matplotlib.pyplot as plt

        blocks = list(self.document.findall(nodes.doctest_block))
        while blocks and not re.search(r"Display|plot", blocks[-1].astext()):
            blocks.pop()
        if not (blocks and self.config.sphinx_gallery_conf["plot_gallery"]):
            return
        main = ModuleType("__main__")  # what the examples define can be pickled
        ours, sys.modules["__main__"] = sys.modules["__main__"], main
        try:
            with (
                matplotlib.rc_context(),
                warnings.catch_warnings(),
                patch.object(plt, "figure", narrowed(plt.figure)),
            ):
                matplotlib.rcdefaults()
                for block in blocks:
                    source = self.run(block, vars(main))
                    for number in reversed(plt.get_fignums()):
                        self.place(block, plt.figure(number), source)
                        plt.close(number)
        finally:
            sys.modules["__main__"] = ours

    def run(self, block, namespace):
        """Run one block, and return its code."""
        examples = doctest.DocTestParser().get_examples(block.astext())
        for example in examples:
            try:
                with redirect_stdout(StringIO()):
                    exec(example.source, namespace)
            except Exception as error:
                if example.exc_msg is None:
                    logger.warning(
                        "%r raises %r", example.source, error, location=block
                    )
        return "".join(example.source for example in examples)

    def place(self, block, figure, source):
        """Save a figure with two pixels for each shown, and put it behind the block."""
        folder = Path(self.env.doctreedir, "figures")
        folder.mkdir(parents=True, exist_ok=True)
        name = self.env.docname.replace("/", "-")
        path = folder / f"{name}-{self.env.new_serialno('figure')}.png"
        figure.savefig(
            path,
            dpi=INCH,
            bbox_inches="tight",
            pad_inches=MARGIN,
            metadata={"Software": None},
        )
        width = matplotlib.image.imread(path).shape[1] // 2
        if width > COLUMN * INCH / 2:
            logger.warning("a figure of %d pixels is too wide", width, location=block)
        page = Path(self.env.doc2path(self.env.docname)).parent
        image = nodes.image(
            uri=Path(os.path.relpath(path, page)).as_posix(),
            alt=alt_text(figure, source),
            width=f"{width}px",
            classes=["drawn"],
        )
        block.parent.insert(block.parent.index(block) + 1, image)


def outdated(app, env, added, changed, removed):
    """Return the pages to read: all, if only one of this build and the last draws."""
    draws = app.config.sphinx_gallery_conf["plot_gallery"]
    drew, env.drew = getattr(env, "drew", draws), draws
    return env.found_docs if draws != drew else []


def setup(app):
    """Register the transform."""
    app.add_transform(Figures)
    app.connect("env-get-outdated", outdated)
    # Models fit in threads, for which forked processes would wait.
    return {"parallel_read_safe": False, "parallel_write_safe": True}
