"""The command line that all benchmarks share."""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from pair import Case, report

import sklearn_interpret

RESULTS = Path(__file__).parent / "results"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def parser(description: str) -> argparse.ArgumentParser:
    """Return the options of every benchmark, described by its first line."""
    options = argparse.ArgumentParser(description=description.partition("\n")[0])
    options.add_argument(
        "--threads", type=int, default=1, help="of BLAS, OpenMP and numba"
    )
    options.add_argument("--repeats", type=int, default=5, help="timed turns of a pair")
    options.add_argument(
        "--budget",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="stop the turns of a pair after that, but not before the second",
    )
    options.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: for a busy machine"
    )
    options.add_argument(
        "--quick", action="store_true", help="small sizes, for which no target is set"
    )
    options.add_argument(
        "--only",
        nargs="+",
        default=[""],
        metavar="TEXT",
        help="cases with TEXT in them",
    )
    options.add_argument(
        "--record",
        action="store_true",
        help="write what is measured into results/, which the repository keeps",
    )
    return options


def run_chosen(
    cases: Callable[..., dict[str, Case]], options: argparse.Namespace
) -> int:
    """Run the cases that the options choose, return the exit status.

    `cases` takes `threads`, `repeats`, `clock` and `budget`, and returns all by name.
    """
    # numba reads its own when a peer first imports it; the other libraries' pools are
    # limited around each timed turn.
    os.environ["NUMBA_NUM_THREADS"] = str(options.threads)
    known = cases(
        threads=options.threads,
        repeats=options.repeats,
        clock=CLOCKS[options.clock],
        budget=options.budget,
    )
    chosen = {
        name: case
        for name, case in known.items()
        if any(text in name for text in options.only)
    }
    if not chosen:
        raise SystemExit(
            f"--only {options.only}: no such case among {', '.join(known)}"
        )
    print(
        f"sklearn_interpret {sklearn_interpret.__version__}, "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, "
        f"pandas {pd.__version__}, Python {platform.python_version()}; "
        f"{options.threads} thread(s) on both sides"
    )
    record = RESULTS / f"{Path(sys.argv[0]).stem}.json" if options.record else None
    return report(chosen, threads=options.threads, record=record)
