"""Reports of three models on real data as pages, and the role that links them."""

from pathlib import Path

from docutils import nodes
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.report import InspectionReport

MODELS = {
    "diabetes": (
        RandomForestRegressor(100, min_samples_leaf=5, random_state=0),
        lambda: load_diabetes(return_X_y=True, as_frame=True, scaled=False),
    ),
    "tumours": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    ),
    "wines": (
        HistGradientBoostingClassifier(max_iter=30, random_state=0),
        lambda: load_wine(return_X_y=True, as_frame=True),
    ),
}


def link(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Role ``reports``: ``words <report>`` becomes a link to the report's page."""
    words, _, report = text.rstrip(">").rpartition(" <")
    depth = inliner.document.settings.env.docname.count("/")
    address = f"{'../' * depth}reports/{report}.html"
    return [nodes.reference(rawtext, words, refuri=address)], []


def write(app, exception):
    """Write the reports beside the pages of the site, but not in a quick build."""
    if (
        exception
        or app.builder.format != "html"
        or str(app.config.plot_gallery) in ("0", "False")
    ):
        return
    folder = Path(app.outdir) / "reports"
    folder.mkdir(exist_ok=True)
    for name, (model, load) in MODELS.items():
        report = InspectionReport(model, random_state=0)
        report.fit(*load()).to_html(folder / f"{name}.html")


def setup(app):
    """Connect the above."""
    app.add_role("reports", link)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
