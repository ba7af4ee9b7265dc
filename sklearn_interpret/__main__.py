"""The command `python -m sklearn_interpret report MODEL DATA --target NAME`."""

import argparse
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.report import InspectionReport

_TRUST = """A pickle runs code when it is loaded: load none that you would not run. Save
models with skops (.skops) instead; of these only known types are loaded, and those that
--trust lists."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; errors of the user's input end it with one line and code 2."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    try:
        _check_output(options.output)
        report = _fit_report(options)
        report.to_html(options.output)
    except (ValueError, TypeError, OSError, ImportError) as error:
        line = " ".join(str(error).split())
        parser.exit(2, f"{parser.prog}: error: {line}\n")
    warned = [check for check in report.checks_ if check.verdict == "warned"]
    lines = [f"warned: {check.title} {check.finding}" for check in warned]
    print(options.output, *lines, sep="\n")


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m sklearn_interpret")
    command = parser.add_subparsers(required=True).add_parser(
        "report", help="write an inspection report, one page of HTML", epilog=_TRUST
    )
    add = partial(command.add_argument, metavar="N")
    command.add_argument("model", type=Path, help=".skops, or .joblib or .pkl (below)")
    command.add_argument("data", type=Path, help="rows and targets, .csv or .parquet")
    add("--target", required=True, metavar="NAME", help="column of targets")
    add("-o", "--output", type=Path, default="report.html", metavar="PATH")
    add("--cv", type=int, help="refit the model in N folds; else it is not refitted")
    add("--max-features", type=int, default=10, help="most features in figures")
    add("--n-jobs", type=int, help="number of workers")
    add("--random-state", type=int, default=0, help="seed of all that is drawn")
    add("--trust", nargs="+", default=[], metavar="TYPE", help="types in a .skops file")
    return parser


def _check_output(path: Path) -> None:
    """Refuse, before anything is computed, what could not be written at the end."""
    import_module("jinja2")
    file = path if path.exists() else path.parent
    if path.is_dir() or not path.parent.is_dir() or not os.access(file, os.W_OK):
        raise ValueError(f"--output: {str(path)!r} is no file that can be written.")


def _fit_report(options: argparse.Namespace) -> InspectionReport:
    """The fitted report of the model and the data in the files."""
    model, pandas = _load_model(options.model, options.trust), import_module("pandas")
    if isinstance(model, type):
        raise ValueError(f"{options.model} holds the class {model.__name__}, no model.")
    parquet = options.data.suffix == ".parquet"
    table = (pandas.read_parquet if parquet else pandas.read_csv)(options.data)
    if options.target not in table:
        names = list(map(str, table.columns))
        near = get_close_matches(options.target, names, n=3) or names[:10]
        raise ValueError(f"no column {options.target!r}; there are {', '.join(near)}")
    return InspectionReport(
        clone(model) if options.cv else FrozenEstimator(model),
        cv=options.cv,
        max_features=options.max_features,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        verbose=1,
    ).fit(table.drop(columns=options.target), table[options.target])


def _load_model(path: Path, trusted: Sequence[str]) -> Any:
    """The model in a file."""
    if path.suffix not in (".joblib", ".pkl", ".skops"):
        raise ValueError(f"{path} must be a .skops, .joblib or .pkl file.")
    if path.suffix != ".skops":
        return _load_or_refuse(path, partial(joblib.load, path))
    skops = import_module("skops.io")
    types = _load_or_refuse(path, partial(skops.get_untrusted_types, file=path))
    if unknown := set(types) - set(trusted):
        raise ValueError(
            f"{path} has types that are not trusted; if you trust them, add --trust "
            + " ".join(sorted(unknown))
        )
    return _load_or_refuse(path, partial(skops.load, path, trusted=trusted))


def _load_or_refuse(path: Path, load: Callable[[], Any]) -> Any:
    """The object that a function loads; a file without one may raise any error."""
    try:
        return load()
    except (OSError, ImportError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{path} holds no model that can be loaded. {reason}"
        ) from error


if __name__ == "__main__":
    main()
