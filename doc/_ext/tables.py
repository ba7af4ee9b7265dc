"""Tables of public names, each with the words that stand behind it on the page.

The sidebar shows the names of a table under the heading of its section.
"""

from sphinx.ext.autosummary import Autosummary


class Table(Autosummary):
    """``autosummary`` with words of the page's own, where it has any."""

    def run(self):
        heading = self.state.parent[0].astext()
        self.options["caption"] = heading.partition(":")[0]
        return super().run()

    def get_items(self, names):
        own = dict(
            line.split(maxsplit=1) for line in self.content if " " in line.strip()
        )
        return [
            (name.rpartition(".")[2], None, own.get(full, words), full)
            for full, (name, _, words, _) in zip(
                names, super().get_items(names), strict=True
            )
        ]


def setup(app):
    """Take the place of the directive."""
    app.add_directive("autosummary", Table, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
