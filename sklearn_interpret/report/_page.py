"""The page of a report."""

from io import StringIO

from sklearn_interpret.report._results import Figure


def page(report):
    """Page of HTML."""
    return ""


def framed(html):
    """Frame with a page, for a notebook."""
    return ""


def drawn(figure, caption):
    """Figure of a report."""
    figure = getattr(figure, "figure_", figure)
    import matplotlib.pyplot as plt

    out = StringIO()
    figure.savefig(out, format="svg")
    plt.close(figure)
    return Figure(out.getvalue(), caption)
