"""Settings of the documentation site, which CONTRIBUTING.md says how to build."""

import inspect
import os
import re
import sys
from contextlib import suppress
from functools import reduce
from pathlib import Path

DOC = Path(__file__).parent
sys.path[:0] = [str(DOC.parent), str(DOC / "_ext")]
# What draws needs no screen, also in the processes that read pages.
os.environ["MPLBACKEND"] = "Agg"

from gallery import SUBSECTIONS
from markdown_pages import gather
from names import api_words, guide_pages

import sklearn_interpret

project = "sklearn_interpret"
copyright = "The sklearn_interpret developers, BSD-3-Clause licence"
version = release = sklearn_interpret.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "cards",
    "figures",
    "gallery",
    "layout",
    "mathml",
    "names",
    "reading",
    "reports",
    "tables",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "examples",
    "sg_execution_times.rst",
    "auto_examples/**/GALLERY_HEADER.rst",
]
default_role = "literal"
nitpicky = False

# -- The API's pages ---------------------------------------------------------------

autosummary_context = {
    "guide_pages": guide_pages(DOC / "user_guide"),
    "words": api_words(DOC / "api.rst"),
}
autodoc_typehints = "none"
maximum_signature_line_length = 80
add_module_names = False
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
# Addresses of other projects' objects are kept here: a build needs no network.
intersphinx_mapping = {
    name: (address, f"inventories/{name}.inv")
    for name, address in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "pandas": "https://pandas.pydata.org/docs/",
        "matplotlib": "https://matplotlib.org/stable/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}

# -- The gallery -------------------------------------------------------------------


sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "ignore_pattern": "quickstart|_partitions",
    "doc_module": ("sklearn_interpret",),
    "backreferences_dir": "generated/backreferences",
    "reset_modules": ("matplotlib", "gallery.strict", "gallery.in_column"),
    "reset_modules_order": "both",
    "image_srcset": ["2x"],
    "thumbnail_size": (560, 392),
    "subsection_order": SUBSECTIONS,
    "within_subsection_order": "gallery.GuideOrder",
    "write_computation_times": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "parallel": 2,  # processes, in which a warning is an error
}
copybutton_exclude = ".linenos, .gp, .go"

# -- The look ----------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = f"sklearn_interpret {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_context = {
    "default_mode": "auto",
    "github_user": "sklearn-interpret",
    "github_repo": "sklearn-interpret",
    "github_version": "main",
    "doc_path": "doc",
}
REPOSITORY = "https://github.com/sklearn-interpret/sklearn-interpret"
html_copy_source = html_show_sourcelink = html_show_sphinx = False
html_sidebars = {"index": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "github_url": REPOSITORY,
    "use_edit_page_button": True,
    # Pages of the API and of the gallery are made from docstrings and scripts.
    "secondary_sidebar_items": {
        "*": ["page-toc", "edit-this-page"],
        "getting_started/*": ["page-toc", "edit-this-page"],
        "user_guide/*": ["page-toc", "edit-this-page"],
        "generated/**": ["page-toc"],
        "auto_examples/**": ["page-toc"],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# -- What is left to do ------------------------------------------------------------


def linkcode_resolve(domain, info):
    """Address of the lines of the repository that define an object, if there are."""
    with suppress(AttributeError, TypeError, OSError, ValueError):
        names = info["fullname"].split(".")
        found = reduce(getattr, names, sys.modules[info["module"]])
        found = inspect.unwrap(getattr(found, "fget", None) or found)
        file = Path(inspect.getsourcefile(found)).relative_to(DOC.parent)
        lines, first = inspect.getsourcelines(found)
        return f"{REPOSITORY}/blob/main/{file}#L{first}-L{first + len(lines) - 1}"
    return None


def skip_machinery(app, what, name, obj, skip, options):
    """Leave out methods that scikit-learn makes to route metadata."""
    routing = name.startswith("set_") and name.endswith("_request")
    return True if routing or name == "get_metadata_routing" else None


def without_labels(app, what, name, obj, options, lines):
    """Keep the words of what would be read as a reference, and is none here.

    Inherited docstrings refer to scikit-learn's guide; a shape such as (n_classes_,)
    of a property looks like a reference.
    """
    for i, line in enumerate(lines):
        line = re.sub(r":ref:`([^`<]+?)\s*(<[^`]*>)?`", r"\1", line)
        if line.lstrip().startswith(":obj:"):
            line = re.sub(r"(?<=\w)_(?=[,)])", r"\\_", line)
        lines[i] = line


def setup(app):
    """Connect the above, and gather the Markdown pages."""
    app.connect("autodoc-skip-member", skip_machinery)
    app.connect("autodoc-process-docstring", without_labels)
    app.connect("builder-inited", gather, priority=100)
