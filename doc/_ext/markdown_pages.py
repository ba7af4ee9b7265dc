"""Pages that are kept as Markdown: the release notes and how to contribute."""

import re
from pathlib import Path


def as_rst(text):
    """Translate the little Markdown that these files use."""
    text = re.sub(r"```(\w+)\n(.*?)```", fenced, text, flags=re.DOTALL)
    text = re.sub(r"^(#+) (.*)$", heading, text, flags=re.MULTILINE)
    text = re.sub(r"(?<![:`\w])`([^`<]+)`(?!`)", r"``\1``", text)
    text = re.sub(r"(``.*?``)|\|", lambda found: found[1] or r"\|", text)
    text = re.sub(r"\[([^]]*)\]\(doc/([\w/]+)\.rst\)", r":doc:`\1 </\2>`", text)
    text = re.sub(r"\[([^]]*)\]\((https:[^)]*)\)", r"`\1 <\2>`__", text)
    return re.sub(r"<!--.*?-->\n", "", text)


def fenced(found):
    """A block of code."""
    code = "".join(f"   {line}\n" for line in found[2].splitlines())
    return f".. code-block:: {found[1]}\n\n{code}"


def heading(found):
    """A heading, underlined."""
    return f"{found[2]}\n" + "=-~"[len(found[1]) - 1] * len(found[2])


def gather(app):
    """Write the pages."""
    doc = Path(app.srcdir)
    (doc / "generated").mkdir(exist_ok=True)
    for name in ("CHANGELOG", "CONTRIBUTING"):
        text = (doc.parent / f"{name}.md").read_text(encoding="utf-8")
        page = doc / "generated" / f"{name.lower()}.rst"
        page.write_text(as_rst(text), encoding="utf-8")
