"""The command `python -m sklearn_interpret report MODEL DATA --target NAME`."""

import argparse
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pickle import UnpicklingError

import joblib
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.report import InspectionReport

_TRUST = """A pickle runs code when it is loaded: load none that you would not run. Save
models with skops (.skops) instead; of these only known types are loaded, and those that
--trust lists."""


def main(arguments=None):
    """Run the command; errors of the user's input end it with code 2."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        report = _report(given)
        report.to_html(given.output)
    except (ValueError, TypeError, OSError, ImportError) as error:
        parser.error(str(error))
    print(given.output)  # noqa: T201
    for check in report.checks_:
        if check.verdict == "warned":
            print(f"warned: {check.title} {check.finding}")  # noqa: T201


def _parser():
    parser = argparse.ArgumentParser("python -m sklearn_interpret")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser(
        "report", help="write an inspection report, one page of HTML", epilog=_TRUST
    )
    add = command.add_argument
    add("model", type=Path, help="model: .skops, or .joblib or .pkl (see below)")
    add("data", type=Path, help="rows that the model has not seen: .csv or .parquet")
    add("--target", required=True, metavar="NAME", help="column of targets")
    add("-o", "--output", type=Path, default=Path("report.html"), help="page to write")
    add("--cv", type=int, metavar="N", help="refit the model in N folds of the data")
    add("--max-features", type=int, default=10, metavar="N", help="most in figures")
    add("--n-jobs", type=int, metavar="N", help="number of workers")
    add("--random-state", type=int, default=0, metavar="SEED", help="seed")
    add("--trust", nargs="+", default=[], metavar="TYPE", help="types in a .skops file")
    return parser


def _report(given):
    """The fitted report of what was given."""
    model, table = _model(given.model, given.trust), _table(given.data)
    if given.target not in table:
        names = list(map(str, table.columns))
        near = get_close_matches(given.target, names, n=3) or names[:10]
        raise ValueError(
            f"{given.data} has no column {given.target!r}; near are {', '.join(near)}."
        )
    return InspectionReport(
        model if given.cv else FrozenEstimator(model),
        cv=given.cv,
        max_features=given.max_features,
        random_state=given.random_state,
        n_jobs=given.n_jobs,
        verbose=1,
    ).fit(table.drop(columns=given.target), table[given.target])


def _model(path, trusted):
    """The model in a file."""
    if path.suffix != ".skops":
        try:
            return joblib.load(path)
        except (KeyError, EOFError, AttributeError, UnpicklingError) as error:
            raise ValueError(f"{path} is no model that loads: {error!r}") from error
    skops = import_module("skops.io")
    unknown = set(skops.get_untrusted_types(file=path)) - set(trusted)
    if unknown:
        raise ValueError(
            f"{path} has types that are not trusted; if you know them, add "
            f"--trust {' '.join(sorted(unknown))}"
        )
    return skops.load(path, trusted=trusted)


def _table(path):
    """The table in a file."""
    pandas = import_module("pandas")
    return (
        pandas.read_parquet(path)
        if path.suffix == ".parquet"
        else pandas.read_csv(path)
    )


if __name__ == "__main__":
    sys.exit(main())
