"""Public names and examples that pages name in code become links to their pages."""

import re
from collections import Counter

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.ext.intersphinx import InventoryAdapter
from sphinx.transforms.post_transforms import SphinxPostTransform

OVERVIEWS = "which_method", "coming_from", "misleading"


def guide_pages(folder):
    """Return, by name, the two pages of the guide that say most of it.

    Overviews come last, as they name everything; how to read figures has its own link.
    """
    found = {}
    for page in sorted(set(folder.glob("*.rst")) - {folder / "reading_figures.rst"}):
        words = re.findall(r"\b[A-Z]\w+", page.read_text(encoding="utf-8"))
        for name, count in Counter(words).items():
            entry = page.stem in OVERVIEWS, -count, page.stem
            found.setdefault(name, []).append(entry)
    return {name: [stem for *_, stem in sorted(of)[:2]] for name, of in found.items()}


def api_words(page):
    """Return, by full name, what the page of the API says of a class."""
    lines = page.read_text(encoding="utf-8")
    return dict(re.findall(r"^   (sklearn_interpret\.\S+) (.+)$", lines, re.MULTILINE))


class Names(SphinxPostTransform):
    """Turn each name in code into a reference, once in a section."""

    default_priority = 5  # before references are resolved

    def run(self, **kwargs):
        known, seen = self.known(), set()
        for literal in list(self.document.findall(nodes.literal)):
            section = literal.parent
            while section.parent and not isinstance(section, nodes.section):
                if isinstance(section, nodes.reference | nodes.title | pending_xref):
                    break
                section = section.parent
            else:
                text = literal.astext()
                domain, kind, target = known.get(text, (None, None, None))
                here = target in self.own or (target, id(section)) in seen
                if target is not None and not here:
                    seen.add((target, id(section)))
                    self.refer(literal, domain, kind, target)

    def known(self):
        """Return the targets by the texts that lead to them."""
        theirs = InventoryAdapter(self.env).main_inventory.get("py:class", {})
        objects = self.env.domains.python_domain.objects
        kinds = {"class", "exception", "function"}
        ours = [name for name, entry in objects.items() if entry.objtype in kinds]
        self.own = {n for n in ours if objects[n].docname == self.env.docname}
        known = {name.rpartition(".")[2]: ("py", "class", name) for name in theirs}
        for name in ours:
            known[name] = known[name.rpartition(".")[2]] = ("py", "obj", name)
        for label in self.env.domains.standard_domain.labels:
            if found := re.fullmatch(
                r"sphx_glr_auto_examples_(\w+?)_(plot_\w+\.py)", label
            ):
                known["doc/examples/{}/{}".format(*found.groups())] = (
                    "std",
                    "ref",
                    label,
                )
                known[found[2]] = ("std", "ref", label)
        return known

    def refer(self, literal, domain, kind, target):
        """Put a reference in the place of the name."""
        reference = pending_xref(
            "",
            literal.deepcopy(),
            refdoc=self.env.docname,
            refdomain=domain,
            reftype=kind,
            reftarget=target,
            refexplicit=False,
            refwarn=True,
        )
        literal.replace_self(reference)


def setup(app):
    """Register the transform."""
    app.add_post_transform(Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
