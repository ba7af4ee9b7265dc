"""Write the stubs of the families, for static checkers.

The signature of a display's `from_estimator` is assembled from its inspector, its
constructor and its `plot`, which a checker cannot follow. Run this script after a
change of any of them; a test fails while a stub is stale.
"""

import ast
import builtins
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from numpydoc.docscrape import ClassDoc

sys.path.insert(0, str(Path(__file__).parents[1]))
import sklearn_interpret

PACKAGE = Path(sklearn_interpret.__file__).parent
HEADER = '"""Types for static checkers, written by .ci/make_stubs.py."""\n\n'
MAKERS = (
    *("from_estimator", "from_estimators", "from_cv_results"),
    *("from_explanation", "from_removal", "from_change"),
)
# Modules of the names that annotations use.
MODULES = {
    "collections.abc": "Callable Iterable Mapping Sequence",
    "matplotlib.artist": "Artist",
    "matplotlib.axes": "Axes",
    "matplotlib.collections": "LineCollection PathCollection PolyCollection QuadMesh",
    "matplotlib.colorbar": "Colorbar",
    "matplotlib.container": "BarContainer",
    "matplotlib.contour": "QuadContourSet",
    "matplotlib.figure": "Figure",
    "matplotlib.image": "AxesImage",
    "matplotlib.legend": "Legend",
    "matplotlib.lines": "Line2D",
    "matplotlib.patches": "Polygon Rectangle",
    "matplotlib.text": "Annotation Text",
    "numpy.typing": "ArrayLike NDArray",
    "pandas": "DataFrame",
    "sklearn.pipeline": "Pipeline",
    "sklearn.tree": "DecisionTreeRegressor",
    "typing": "Any Self",
}
HOMES = {name: module for module, names in MODULES.items() for name in names.split()}
# Types of the arrays and artists that docstrings name.
DOCUMENTED = {
    "artist": "Artist",
    "list": "list[Any]",
    "ndarray": "NDArray[np.float64]",
    "ndarray of Axes": "NDArray[np.object_]",
    "ndarray of int": "NDArray[np.intp]",
}


class FamilyStub:
    """The stub of one family: its estimators as they are, and its displays."""

    def __init__(self, name):
        self.module = import_module(f"sklearn_interpret.{name}")
        self.imports = set()
        self.lines = []
        for public in self.module.__all__:
            value = getattr(self.module, public)
            if public.endswith("Display"):
                self.add_display(value)
            else:
                self.imports.add(f"from {value.__module__} import {public}")

    def text(self):
        """The stub as it stands in its file."""
        names = ", ".join(f'"{name}"' for name in self.module.__all__)
        lines = [*sorted(self.imports), f"__all__ = [{names}]", *self.lines]
        return HEADER + formatted("\n".join(lines))

    def add_display(self, display):
        """Add the class of a display."""
        self.lines.append(f"class {display.__name__}:")
        for parameter in inspect.signature(display).parameters.values():
            self.add(self.parameter(parameter, display))
        doc = ClassDoc(display, config={"show_class_members": False})
        for entry in doc["Attributes"]:
            for name in entry.name.split(", "):
                self.add(f"{name}: {self.typed(documented_type(entry.type), display)}")
        self.add_method(display, "__init__", "self", "None")
        for name in MAKERS:
            if hasattr(display, name):
                self.add("@classmethod")
                self.add_method(display, name, "cls", "Self")
        self.add_method(display, "plot", "self", "Self")
        # The methods cannot say so: pandas is imported where it is needed.
        self.add_method(display, "to_frame", "self", "DataFrame")

    def add(self, line):
        """Add a line to the body of a class."""
        self.lines.append(f"    {line}")

    def add_method(self, display, name, first, returned):
        """Add a method of a display, whose first parameter is `self` or `cls`."""
        parameters = inspect.signature(getattr(display, name)).parameters
        parts, marked = [first], False
        for parameter in parameters.values():
            if parameter.name == first:
                continue
            if parameter.kind is parameter.KEYWORD_ONLY and not marked:
                parts.append("*")
                marked = True
            part = self.parameter(parameter, display)
            if parameter.default is not parameter.empty:
                plain = isinstance(parameter.default, str | int | float | None)
                part += f" = {parameter.default!r}" if plain else " = ..."
            parts.append(part)
        kind = self.typed(returned, display)
        self.add(f"def {name}({', '.join(parts)}) -> {kind}: ...")

    def parameter(self, parameter, display):
        """Name and type of a parameter; an explanation is of the display's kind."""
        kind = parameter.annotation
        if parameter.name == "explanation" and parameter.default is parameter.empty:
            kind = display._explanation_kind.__name__
        return f"{parameter.name}: {self.typed(kind, display)}"

    def typed(self, text, display):
        """An annotation of a display, whose names are imported."""
        if text is inspect.Parameter.empty:
            raise TypeError(f"A parameter of {display.__name__} has no annotation.")
        text = text if isinstance(text, str) else inspect.formatannotation(text)
        for node in ast.walk(ast.parse(text, mode="eval")):
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
                self.imports.add(source(node.id, display))
        return text


def source(name, display):
    """The statement that imports a name of an annotation."""
    if name == "np":
        return "import numpy as np"
    if name in HOMES:
        return f"from {HOMES[name]} import {name}"
    for kind in (*display.__mro__, *getattr(display, "_kinds", ())):
        module = inspect.getmodule(kind)
        if hasattr(module, name):
            value = getattr(module, name)
            defined = value.__module__ if inspect.isclass(value) else module.__name__
            return f"from {defined} import {name}"
    raise NameError(f"{name}, in an annotation of {display.__name__}, is not found.")


def documented_type(text):
    """The type that a docstring describes, such as "list of Line2D or None"."""
    text = re.sub(r" of shape .*|matplotlib ", "", text)
    return " | ".join(map(one_documented_type, re.split(r", or |, | or ", text)))


def one_documented_type(text):
    """One of the types between which a docstring says "or"."""
    if text.startswith("list of "):
        return f"list[{one_documented_type(text.removeprefix('list of '))}]"
    return DOCUMENTED.get(text, text)


def formatted(text):
    """The text, sorted and formatted as the project's other files are."""
    for command in ("check --fix-only --select=I", "format"):
        command = f"{sys.executable} -m ruff {command} -q --stdin-filename=a.pyi -"
        run = subprocess.run(
            command.split(), input=text, capture_output=True, text=True, check=True
        )
        text = run.stdout
    return text


def stubs():
    """Texts of the stubs, by path."""
    modules = sklearn_interpret._submodules
    lines = [f"from sklearn_interpret import {name} as {name}" for name in modules]
    made = {"__init__.pyi": HEADER + formatted("\n".join([*lines, "__version__: str"]))}
    for name in modules:
        has_displays = (PACKAGE / name / "_plot").is_dir()
        if has_displays:
            made[f"{name}/__init__.pyi"] = FamilyStub(name).text()
    return {PACKAGE / name: text for name, text in made.items()}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
