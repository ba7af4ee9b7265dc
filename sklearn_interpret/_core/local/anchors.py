"""Anchors: short rules under which a model keeps its answer (Ribeiro et al. 2018).

A rule is a set of conditions that hold for the explained sample, an increasing tuple of
their positions. Under the rule the sample is perturbed: a draw, made without regard to
any rule, is changed in those conditions of the rule that it does not meet, so that it
meets them all. Rules of which a draw does not meet the same conditions share the
perturbed sample, and the model is asked about it once.
"""

from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.special import xlog1py, xlogy

# Draws by which rules are compared first; each further stage has twice as many.
_FIRST_DRAWS = 32
# After so many sizes in which no rule is more precise than shorter ones, all is tried.
_MOST_STALLED = 2
_BISECTIONS = 30


@dataclass(frozen=True)
class Anchor:
    """The rule found for a sample.

    Parameters
    ----------
    rule : tuple of int
        Positions of its conditions.
    found : bool
        Whether `low` reaches the wished precision.
    precision : float
        Share of the perturbed samples on which the model keeps its answer.
    low, high : float
        Bounds of the precision.
    coverage : float
        Share of samples for which the rule holds.
    """

    rule: tuple
    found: bool
    precision: float
    low: float
    high: float
    coverage: float


class Neighbours:
    """Perturbed copies of a sample, and what the model says of them.

    Parameters
    ----------
    met : ndarray of shape (2 n_draws, n_conditions), bool
        Which conditions each draw meets. Rules are compared on the first half, and
        judged on the second.
    ask : callable
        ``ask(draws, changed)``: whether the model keeps its answer on draws, (m,) int,
        that are changed to meet some conditions, (m, n_conditions) bool.
    covered : ndarray of shape (n_samples, n_conditions), bool
        Which conditions hold for the samples that coverage is counted on.
    shares : ndarray of shape (n_samples,)
        Their weights, which sum to one.
    """

    def __init__(self, met, ask, covered, shares):
        self.n_draws, self.n_conditions = len(met) // 2, met.shape[1]
        self._unmet, self._ask = ~met, ask
        self._covered, self._shares = covered, shares
        self._answers = {}
        # Perturbed samples are told apart by sums of random numbers of 64 bits.
        rng = np.random.default_rng(0)
        self._of_condition, self._of_draw = (
            rng.integers(2**64, size=size, dtype=np.uint64)
            for size in (self.n_conditions, len(met))
        )

    def coverage(self, rule):
        """Share of the samples for which a rule holds."""
        return float(self._shares[self._covered[:, rule].all(axis=1)].sum())

    def coverages(self, rule):
        """Coverage of a rule with each condition added: (n_conditions,)."""
        within = np.flatnonzero(self._covered[:, rule].all(axis=1))
        return self._shares[within] @ self._covered[within]

    def count(self, rules, starts, stops):
        """On how many draws from start to stop the model keeps its answer, by rule."""
        draws = [np.arange(*part) for part in zip(starts, stops, strict=True)]
        keys = np.concatenate(
            [
                self._of_draw[some] + self._unmet[some][:, rule] @ self._numbers(rule)
                for rule, some in zip(rules, draws, strict=True)
            ]
        )
        ends = np.cumsum([len(some) for some in draws])
        self._learn(rules, np.concatenate(draws), keys, ends)
        kept = np.array([self._answers[key] for key in keys.tolist()], dtype=np.intp)
        return np.add.reduceat(kept, ends - np.diff(ends, prepend=0))

    def _numbers(self, rule):
        return self._of_condition[list(rule)]

    def _learn(self, rules, draws, keys, ends):
        """Ask the model about those perturbed samples that it was not asked about."""
        keys, first = np.unique(keys, return_index=True)
        known = self._answers
        fresh = np.array([key not in known for key in keys.tolist()], dtype=bool)
        keys, first = keys[fresh], first[fresh]
        if not len(keys):
            return
        changed = np.zeros((len(keys), self.n_conditions), dtype=bool)
        of_rule = np.searchsorted(ends, first, side="right")
        for k in np.unique(of_rule).tolist():
            at, rule = np.flatnonzero(of_rule == k)[:, None], list(rules[k])
            changed[at, rule] = self._unmet[draws[first[at]], rule]
        answers = self._ask(draws[first], changed)
        known.update(zip(keys.tolist(), answers.tolist(), strict=True))


@dataclass(frozen=True)
class AnchorSearch:
    """Beam search for the rule of the largest coverage that has enough precision.

    Parameters
    ----------
    precision : float
        The least precision.
    delta : float
        Probability that a bound fails: of a rule that is compared with others, and of
        any rule that is judged.
    tau : float
        By how much rules may be less precise than the best and still pass for them.
    beam_size : int
        How many rules of each size are extended.
    max_size : int or None
        How many conditions a rule has at most.
    least_coverage : float
        Rules of less coverage are not extended.
    """

    precision: float
    delta: float
    tau: float
    beam_size: int
    max_size: int | None
    least_coverage: float = 0.0

    def level(self, n_looks):
        """Minus the logarithm of the share of delta that each of some looks has."""
        return np.log(n_looks) - np.log(self.delta)

    def __call__(self, neighbours):
        """The `Anchor` of a sample, from its `Neighbours`."""
        judge = _Judge(self, neighbours)
        beam, best = [()], judge(())
        closest, highest, n_stalled, size = (), 0.0, 0, 0
        most = neighbours.n_conditions if self.max_size is None else self.max_size
        while size < most and n_stalled < _MOST_STALLED:
            rules = self._extended(neighbours, beam, best)
            if not rules:
                break
            race = _Race(self, neighbours, rules)
            beam = race.run()
            for rule in race.promising(beam):
                if not best.found or neighbours.coverage(rule) > best.coverage:
                    judged = judge(rule)
                    best = judged if judged.found else best
            n_stalled = 0 if race.highest > highest else n_stalled + 1
            if race.highest > highest:
                closest, highest = beam[0], race.highest
            size += 1
        return best if best.found else judge(closest)

    def _extended(self, neighbours, beam, best):
        """Rules with one condition more, which may be better than the one found."""
        rules = set()
        for rule in beam:
            if neighbours.coverage(rule) < self.least_coverage:
                continue
            wider = np.ones(neighbours.n_conditions, dtype=bool)
            if best.found:
                wider = neighbours.coverages(rule) > best.coverage
            wider[list(rule)] = False
            rules |= {tuple(sorted((*rule, j))) for j in np.flatnonzero(wider).tolist()}
        return sorted(rules)


class _Race:
    """KL-LUCB: rules of the highest precision, told from the others by few draws.

    All rules have the same draws, in stages, each of which doubles those of the rules
    that may still be on the wrong side. The bounds of a rule hold in all stages at
    once. They need not hold for all rules: those found are judged by other draws.
    """

    def __init__(self, search, neighbours, rules):
        self._search, self._neighbours, self._rules = search, neighbours, rules
        self._n_draws = np.zeros(len(rules), dtype=np.intp)
        self._n_kept = np.zeros(len(rules), dtype=np.intp)

    @property
    def _means(self):
        return self._n_kept / self._n_draws

    @property
    def highest(self):
        """The highest precision, as far as is known."""
        return self._means.max()

    def run(self):
        """As many rules as a beam holds, those of the highest precision first."""
        unclear, n_draws = np.arange(len(self._rules)), _FIRST_DRAWS
        for stage in count(1):
            self._draw(unclear, min(n_draws, self._neighbours.n_draws))
            unclear = self._unclear(stage)
            if not len(unclear) or n_draws >= self._neighbours.n_draws:
                return [self._rules[k] for k in self._order()[0]]
            n_draws *= 2

    def _order(self):
        """Positions of the rules of the beam, and of the others."""
        order = np.argsort(-self._means, kind="stable")
        return order[: self._search.beam_size], order[self._search.beam_size :]

    def _unclear(self, stage):
        """Rules that may be worse, or better, than one on the other side, by tau."""
        top, rest = self._order()
        if not len(rest):
            return rest
        low, high = self._bounds(self._search.level(stage * (stage + 1)))
        may_be_worse = low[top] < high[rest].max() - self._search.tau
        may_be_better = high[rest] > low[top].min() + self._search.tau
        return np.concatenate([top[may_be_worse], rest[may_be_better]])

    def promising(self, beam):
        """Rules of the beam that may have enough precision, the widest first."""
        _, high = self._bounds(self._search.level(1))
        chosen = high[self._order()[0]] >= self._search.precision
        rules = [
            rule for rule, is_chosen in zip(beam, chosen, strict=True) if is_chosen
        ]
        return sorted(rules, key=self._neighbours.coverage, reverse=True)

    def _bounds(self, level):
        return kl_bounds(self._n_kept, self._n_draws, level)

    def _draw(self, chosen, stop):
        """Have some rules judged by their draws up to `stop`."""
        rules = [self._rules[k] for k in chosen]
        stops = np.full(len(chosen), stop)
        starts = self._n_draws[chosen]
        self._n_kept[chosen] += self._neighbours.count(rules, starts, stops)
        self._n_draws[chosen] = stop


class _Judge:
    """Bounds of the precision of rules, from draws that had no part in their choice.

    The k-th look at any of them gets the share 1 / (k (k + 1)) of delta: the chance
    that one of the lower bounds fails is at most delta, and so for the upper ones.
    """

    def __init__(self, search, neighbours):
        self._search, self._neighbours = search, neighbours
        self._n_looks = 0

    def __call__(self, rule):
        """The `Anchor` that a rule makes, looked at until it is clear what it is."""
        wished, n_most = self._search.precision, self._neighbours.n_draws
        stop = n_kept = 0
        for n_before in count():
            self._n_looks += 1
            level = self._search.level(self._n_looks * (self._n_looks + 1))
            # Fewer draws are not enough, were the answer kept on all of them.
            fewest = max(int(np.ceil(level / -np.log(wished))), _FIRST_DRAWS)
            start, stop = stop, min(max(2 * stop, fewest), n_most)
            n_kept += self._neighbours.count([rule], [n_most + start], [n_most + stop])
            low, high = kl_bounds(n_kept, np.array([stop]), level)
            mean = n_kept[0] / stop
            hopeless = high[0] < wished or (n_before and mean < wished)
            if low[0] >= wished or hopeless or stop == n_most:
                break
        bounds = mean.item(), low.item(), high.item()
        return Anchor(
            rule, bounds[1] >= wished, *bounds, self._neighbours.coverage(rule)
        )


def kl_bounds(n_kept, n_draws, level):
    """Bounds of probabilities: q with n KL(mean, q) = level, below and above the mean.

    Parameters
    ----------
    n_kept, n_draws : ndarray of shape (n,), int
        Successes and trials.
    level : float
        Each bound fails with a probability of at most exp(-level) (Chernoff's bound).
    """
    mean = n_kept / n_draws
    # KL(mean, q) = least - mean log q - (1 - mean) log(1 - q).
    least = xlogy(mean, mean) + xlog1py(1 - mean, -mean)
    most = level / n_draws - least
    near, far = np.stack([mean, mean]), np.stack([0 * mean, 0 * mean + 1])
    for _ in range(_BISECTIONS):
        middle = (near + far) / 2
        within = -xlogy(mean, middle) - xlog1py(1 - mean, -middle) <= most
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return far
