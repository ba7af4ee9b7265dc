"""How our time grows with one size of the work: an exponent, and a plot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pair import Clock, Result, seconds
from threadpoolctl import threadpool_limits

# The exponent is taken where the part that does not grow has lost its weight.
N_LAST = 3


@dataclass(frozen=True)
class Growth:
    """Seconds of the same work at growing sizes."""

    name: str
    size_name: str
    sizes: np.ndarray
    seconds: np.ndarray

    @property
    def exponent(self) -> float:
        """Slope of log time over log size at the largest sizes; 1 is linear."""
        sizes, times = (np.log(part[-N_LAST:]) for part in (self.sizes, self.seconds))
        return float(np.polyfit(sizes, times, 1)[0])


def measure(
    name: str,
    size_name: str,
    work: Callable[[int], Callable[[], Any]],
    sizes: Sequence[int],
    *,
    threads: int,
    repeats: int,
    clock: Clock,
    budget: float,
) -> Growth:
    """Time `work(size)`, the best of some repeats for each size, after a warm-up.

    The sizes share the budget, in seconds, and each is timed at least once.
    """
    works = [work(size) for size in sizes]
    works[0]()
    with threadpool_limits(limits=threads):
        best = [_best(call, clock, repeats, budget / len(sizes)) for call in works]
    return Growth(name, size_name, np.array(sizes), np.array(best))


def _best(call: Callable[[], Any], clock: Clock, repeats: int, budget: float) -> float:
    times = [seconds(call, clock)]
    while len(times) < repeats and sum(times) < budget:
        times.append(seconds(call, clock))
    return min(times)


def judge(growth: Growth, *, limit: float | None) -> Result:
    """Compare the exponent with the largest one allowed."""
    within = limit is None or growth.exponent <= limit
    small, large = growth.sizes[[0, -1]]
    return Result(
        growth.name,
        f"{small} {growth.size_name}",
        f"{growth.seconds[-1]:.3f} s",
        f"{growth.seconds[0]:.3f} s",
        f"exponent {growth.exponent:.2f} to {large}",
        "-" if limit is None else f"<= {limit:g}",
        "-",
        "ok" if within else "above target",
    )


def draw(growths: Sequence[Growth], path: str) -> None:
    """Save a plot: time over size on two logarithmic axes, one panel for each kind."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(growth.size_name for growth in growths))
    figure = Figure(figsize=(4.5 * len(kinds), 4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for axes, kind in zip(panels, kinds, strict=True):
        for growth in growths:
            if growth.size_name == kind:
                label = f"{growth.name} (exponent {growth.exponent:.2f})"
                axes.loglog(growth.sizes, growth.seconds, "o-", label=label)
        low, high = axes.get_xlim()
        start = min(g.seconds[0] for g in growths if g.size_name == kind)
        line = np.array([low, high])
        axes.loglog(line, start * line / low, ":", color="0.6", label="linear")
        axes.set(xlim=(low, high), xlabel=kind)
        axes.legend(fontsize="small")
    panels[0].set_ylabel("seconds")
    figure.savefig(path, dpi=120)
