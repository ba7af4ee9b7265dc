"""How the examples of the gallery are run, ordered and shown."""

import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from figures import narrowed
from sphinx.addnodes import pending_xref
from sphinx_gallery.directives import imgsgnode

# The order of the guide.
ORDER = {
    "effects": (
        "correlated_features individual_curves regional_effects categorical_effects "
        "centered_log_probability"
    ),
    "interactions": "h_statistic network parts_of_a_function",
    "importance": "which_importance duplicates needed",
    "diagnosis": "slices changes differences",
    "shapley": "breast_cancer which_algorithm any_model groups_and_dependence",
    "surrogates": "global_surrogate lime_table lime_text lime_image",
    "counterfactuals": "credit rent text anchors",
    "adversarial": "adversarial_digits adversarial_table black_box",
    "prototypes": "prototypes medoids",
    "influence": "deletion_diagnostics influence training_rows regression_influence",
    "linear": "linear_inference sparse_path",
    "additive": "gam gam_classifier",
    "decomposition": "decomposition",
    "rules": "rule_list rule_fit rules",
    "partitions": "parquet",
    "development": "explanations own_inspector",
}
make_figure = plt.figure
SUBSECTIONS = [f"examples/{folder}" for folder in ORDER]


class GuideOrder:
    """Sort the examples of a folder as the guide has them."""

    def __init__(self, folder):
        self.names = ORDER.get(Path(folder).name, "").split()

    def __call__(self, script):
        """Return the position of a script."""
        return self.names.index(Path(script).stem.removeprefix("plot_"))

    def __repr__(self):
        """Return the name, by which Sphinx sees whether settings have changed."""
        return type(self).__name__


def strict(gallery_conf, script):
    """Before each: a warning is an error, as it is in the tests."""
    warnings.resetwarnings()
    warnings.simplefilter("error")


def in_column(gallery_conf, script, when):
    """Before each, and no longer after it: figures are as wide as their column."""
    plt.figure = narrowed(make_figure) if when == "before" else make_figure


def open_with_picture(app, doctree):
    """Show the figure of an example's thumbnail below the title, too."""
    script = Path(app.srcdir, app.env.docname).with_suffix(".py")
    pictures = list(doctree.findall(imgsgnode))
    if script.is_file() and pictures:
        found = re.search(r"thumbnail_number = (\d+)", script.read_text("utf-8"))
        picture = pictures[int(found[1]) - 1 if found else 0].deepcopy()
        title = next(doctree.findall(nodes.title))
        title.parent.insert(1, picture)


def link_reading(app, doctree):
    """Say below the title where to read what an example's figures show."""
    script = Path(app.srcdir, app.env.docname).with_suffix(".py")
    if script.parent.parent.name != "auto_examples" or not script.is_file():
        return
    names = re.findall(r"\b(\w+Display)(?=[.(])", script.read_text("utf-8"))
    line = nodes.paragraph("", "How to read the figures: ")
    for name in dict.fromkeys(names):
        target = pending_xref(
            "",
            nodes.literal("", name),
            refdoc=app.env.docname,
            refdomain="std",
            reftype="ref",
            reftarget=f"read-{name.lower()}",
            refexplicit=True,
            refwarn=True,
        )
        line += [*([nodes.Text(", ")] if len(line) > 1 else []), target]
    if names:
        line += nodes.Text(".")
        next(doctree.findall(nodes.title)).parent.insert(1, line)


def describe_thumbnails(app, doctree, docname):
    """Give each thumbnail the title of its example as alternative text."""
    for image in doctree.findall(nodes.image):
        path, thumb, name = image["uri"].partition("/images/thumb/sphx_glr_")
        page = f"{path}/{name.removesuffix('_thumb.png')}"
        if thumb and page in app.env.titles:
            image["alt"] = f"A figure of: {app.env.titles[page].astext()}"


def setup(app):
    """Connect the above."""
    app.connect("doctree-read", link_reading)
    app.connect("doctree-read", open_with_picture)
    app.connect("doctree-resolved", describe_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
