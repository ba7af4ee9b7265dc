"""Formulas as MathML, which browsers draw by themselves: no script, no network."""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml

# What the translator does not know, and what it does in its place.
OTHERWISE = [
    (r"\\[bB]ig+[lr]?(?![a-z])|\\textstyle", ""),
    (r"\\dots(?![a-z])", r"\\ldots"),
    (r"(\\(?:begin|end)){array}(?:{[lrc]+})?", r"\1{matrix}"),
]


def inline(writer, node):
    """Write a formula within a sentence."""
    write(writer, node, as_block=False)
    raise nodes.SkipNode


def block(writer, node):
    """Write a formula of its own; lines that are aligned are so by an environment."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    write(writer, node, as_block=True)
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def write(writer, node, as_block):
    """Write a formula."""
    text = node.astext()
    for unknown, known in OTHERWISE:
        text = re.sub(unknown, known, text)
    if as_block and "\\\\" in text and "\\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    writer.body.append(latex2mathml.tex2mathml(text, as_block=as_block))


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
