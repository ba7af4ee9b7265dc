"""The page of a report."""


def page(report):
    """Page of HTML."""
    return ""


def framed(html):
    """Frame with a page, for a notebook."""
    return ""
