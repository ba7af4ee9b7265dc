"""Long names may break, and cells of a table know their column: for narrow screens."""

import re
from html import escape

from docutils import nodes

# Where a long name may break: behind an underscore or a dot, before a capital.
BREAK = re.compile(r"(?<=[a-z0-9][_.])(?=\w)|(?<=[a-z])(?=[A-Z])")
NAME = re.compile(r"<[^>]*>|\b[A-Za-z_][\w.]{11,}")


def with_breaks(found):
    """Return a name with its breaks, and a tag as it is."""
    return found[0] if found[0][0] == "<" else BREAK.sub("<wbr>", found[0])


def visit_text(writer, node):
    """Write a text whose long names have ``<wbr>``."""
    start = len(writer.body)
    type(writer).visit_Text(writer, node)
    for i in range(start, len(writer.body)):
        writer.body[i] = NAME.sub(with_breaks, writer.body[i])


def depart_text(writer, node):
    """Write nothing."""


def visit_entry(writer, node):
    """Write a cell with the title of its column, which a phone shows before it."""
    column, start = node.parent.column, len(writer.body)
    type(writer).visit_entry(writer, node)
    heads = list(node.parent.parent.parent.findall(nodes.thead))
    if heads and not isinstance(node.parent.parent, nodes.thead):
        label = escape(heads[0][0][column].astext())
        tag = writer.body[start].replace(">", f' data-label="{label}">', 1)
        writer.body[start] = tag


def depart_entry(writer, node):
    """Write the end of a cell."""
    type(writer).depart_entry(writer, node)


def setup(app):
    """Register both."""
    app.add_node(nodes.Text, override=True, html=(visit_text, depart_text))
    app.add_node(nodes.entry, override=True, html=(visit_entry, depart_entry))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
