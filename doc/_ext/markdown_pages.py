"""Pages that are kept as Markdown: the changes, one a file, and how to contribute."""

import re
from pathlib import Path

KINDS = {
    "feature": "New",
    "change": "Changed behaviour",
    "fix": "Mended",
    "speed": "Faster",
    "removal": "Removed",
}


def as_rst(text):
    """Translate the little Markdown that these files use."""
    text = re.sub(r"```(\w+)\n(.*?)```", fenced, text, flags=re.DOTALL)
    text = re.sub(r"^(#+) (.*)$", heading, text, flags=re.MULTILINE)
    text = re.sub(r"(?<![:`\w])`([^`<]+)`(?!`)", r"``\1``", text)
    text = re.sub(r"(``.*?``)|\|", lambda found: found[1] or r"\|", text)
    return re.sub(r"\[([^]]*)\]\(doc/([\w/]+)\.rst\)", r":doc:`\1 </\2>`", text)


def fenced(found):
    """A block of code."""
    code = "".join(f"   {line}\n" for line in found[2].splitlines())
    return f".. code-block:: {found[1]}\n\n{code}"


def heading(found):
    """A heading, underlined."""
    return f"{found[2]}\n" + "=-~"[len(found[1]) - 1] * len(found[2])


def changes(folder):
    """Return the page of changes, from ``<subject>.<kind>.md`` and former releases."""
    parts = ["# Changes"]
    for kind, title in KINDS.items():
        fragments = sorted(folder.glob(f"*.{kind}.md"))
        texts = [fragment.read_text(encoding="utf-8") for fragment in fragments]
        if texts:
            parts += [f"## {title}", *("- " + " ".join(text.split()) for text in texts)]
    return as_rst("\n\n".join(parts) + "\n")


def gather(app):
    """Write the pages."""
    doc = Path(app.srcdir)
    contributing = (doc.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (doc / "generated").mkdir(exist_ok=True)
    pages = {"changes": changes(doc / "changes"), "contributing": as_rst(contributing)}
    for name, text in pages.items():
        (doc / "generated" / f"{name}.rst").write_text(text, encoding="utf-8")
