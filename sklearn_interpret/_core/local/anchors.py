"""Anchors: short rules under which a model keeps its answer (Ribeiro et al. 2018).

A rule is a set of conditions that hold for the explained sample, as an increasing tuple
of their positions. To perturb the sample under a rule, a draw that is made without
regard to any rule is changed where it violates conditions of the rule, so that it meets
all of them. Rules of which a draw violates the same conditions share the perturbed
sample, and the model is asked about it once. The draws of a longer rule are both
perturbed samples that meet its further condition by chance and samples that are changed
to meet it: without the changed samples, they would keep a dependence between conditions
that the changes remove.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

_Rule = tuple[int, ...]

# Draws of the first stage in which rules are compared; each further stage doubles them.
# Fewer miss the best of many rules that are alike, and the search extends worse rules.
_FIRST_DRAWS = 128
# The search ends after this number of sizes without a rule that beats shorter ones:
# some conditions raise the precision only together. Chosen by hand.
_MAX_STALLED = 4
# Bisections of a unit interval for the bounds, which are then exact to 1e-9.
_BISECTIONS = 30


@dataclass(frozen=True)
class Anchor:
    """The best rule of a sample.

    Parameters
    ----------
    rule : tuple of int
        Positions of its conditions.
    is_precise : bool
        Whether `low` reaches the required precision.
    precision : float
        Share of the perturbed samples on which the model keeps its answer.
    low, high : float
        Bounds of the precision.
    coverage : float
        Share of samples for which the rule holds.
    """

    rule: _Rule
    is_precise: bool
    precision: float
    low: float
    high: float
    coverage: float


class Neighbours:
    """Perturbed copies of a sample, and the cached answers of the model.

    Parameters
    ----------
    met : ndarray of shape (2 n_draws, n_conditions), bool
        Mask of the conditions that each draw meets. Rules are compared on the first
        half, and verified on the second.
    ask : callable
        ``ask(draws, changed)``: whether the model keeps its answer on draws (m,), int,
        that are changed to meet some conditions, (m, n_conditions) bool.
    covered : ndarray of shape (n_samples, n_conditions), bool
        Mask of the conditions that hold for the samples on which coverage is measured.
    shares : ndarray of shape (n_samples,)
        Weights of these samples, which sum to one.
    """

    def __init__(
        self,
        met: NDArray[np.bool_],
        ask: Callable[[NDArray[np.intp], NDArray[np.bool_]], NDArray[np.bool_]],
        covered: NDArray[np.bool_],
        shares: NDArray[np.float64],
    ) -> None:
        self.n_draws, self.n_conditions = len(met) // 2, met.shape[1]
        self._unmet, self._ask = ~met, ask
        self._covered, self._shares = covered, shares
        self._answers: dict[int, bool] = {}
        # The key of a perturbed sample is a hash: the sum of random 64 bit numbers, of
        # its draw and of the conditions that it is changed to meet.
        rng = np.random.default_rng(0)
        self._condition_keys, self._draw_keys = (
            rng.integers(2**64, size=size, dtype=np.uint64)
            for size in (self.n_conditions, len(met))
        )

    def coverage(self, rule: _Rule) -> float:
        """Share of the samples for which a rule holds."""
        return float(self._shares[self._covered[:, rule].all(axis=1)].sum())

    def coverages(self, rule: _Rule) -> NDArray[np.float64]:
        """Coverage of a rule with each condition added: (n_conditions,)."""
        samples = np.flatnonzero(self._covered[:, rule].all(axis=1))
        return self._shares[samples] @ self._covered[samples]

    def count_kept(
        self, rules: Sequence[_Rule], starts: Sequence[int], stops: Sequence[int]
    ) -> NDArray[np.intp]:
        """Numbers of draws on which the model keeps its answer, (n_rules,).

        The parameters are those of `keeps_answer`.
        """
        keeps_answer = self.keeps_answer(rules, starts, stops)
        n_draws = np.subtract(stops, starts)
        firsts = np.cumsum(n_draws) - n_draws
        return np.add.reduceat(keeps_answer, firsts, dtype=np.intp)

    def keeps_answer(
        self,
        rules: Sequence[_Rule],
        starts: NDArray[np.intp] | Sequence[int],
        stops: NDArray[np.intp] | Sequence[int],
    ) -> NDArray[np.bool_]:
        """Whether the model keeps its answer under rules, each on draws start to stop.

        The draws of all rules follow each other.
        """
        draws = [np.arange(*span) for span in zip(starts, stops, strict=True)]
        keys = [
            self._draw_keys[block]
            + self._unmet[block][:, rule] @ self._condition_keys[list(rule)]
            for rule, block in zip(rules, draws, strict=True)
        ]
        self._ask_about_new(rules, draws, keys)
        all_keys = np.concatenate(keys).tolist()
        return np.array([self._answers[key] for key in all_keys], dtype=bool)

    def _ask_about_new(
        self,
        rules: Sequence[_Rule],
        draws_by_rule: list[NDArray[np.intp]],
        keys_by_rule: list[NDArray[np.uint64]],
    ) -> None:
        """Ask the model about the perturbed samples without a cached answer."""
        keys, first = np.unique(np.concatenate(keys_by_rule), return_index=True)
        is_new = np.array([key not in self._answers for key in keys.tolist()], bool)
        keys, first = keys[is_new], first[is_new]
        if not len(keys):
            return
        draws = np.concatenate(draws_by_rule)[first]
        rule_of_draw = np.repeat(np.arange(len(rules)), list(map(len, draws_by_rule)))
        rule_of_draw = rule_of_draw[first]
        changed = np.zeros((len(keys), self.n_conditions), dtype=bool)
        for k in np.unique(rule_of_draw).tolist():
            positions, rule = np.flatnonzero(rule_of_draw == k)[:, None], list(rules[k])
            changed[positions, rule] = self._unmet[draws[positions], rule]
        answers = self._ask(draws, changed)
        self._answers.update(zip(keys.tolist(), answers.tolist(), strict=True))


@dataclass(frozen=True)
class AnchorSearch:
    """Beam search for the rule of the largest coverage that has enough precision.

    Parameters
    ----------
    precision : float
        The least precision.
    delta : float
        Probability that a bound fails: for each rule that is compared with others, and
        for all rules together that are verified.
    tau : float
        Tolerance in precision: rules this close to the best count as best.
    beam_size : int
        Number of rules of each size that are extended.
    max_size : int or None
        Largest number of conditions of a rule.
    least_coverage : float
        Rules of less coverage are not extended.
    """

    precision: float
    delta: float
    tau: float
    beam_size: int
    max_size: int | None
    least_coverage: float = 0.0

    def level(self, n_looks: int) -> float:
        """Minus the log of delta / n_looks, the failure probability of one look.

        A look is one computation of a bound.
        """
        return float(np.log(n_looks) - np.log(self.delta))

    def __call__(self, neighbours: Neighbours) -> Anchor:
        """The `Anchor` of a sample, from its `Neighbours`."""
        verify = _Verifier(self, neighbours)
        beam: list[_Rule] = [()]
        # The most precise rule, to return if no rule is precise enough; and the best.
        closest, highest, best = beam[0], 0.0, verify(())
        n_stalled, size = 0, 0
        no_limit = neighbours.n_conditions
        max_size = no_limit if self.max_size is None else self.max_size
        while size < max_size and n_stalled < _MAX_STALLED:
            rules = self._extend_rules(neighbours, beam, best)
            if not rules:
                break
            arms = _BestArms(self, neighbours, rules)
            beam = arms.find_beam()
            for rule in arms.promising_rules(beam):
                if not best.is_precise or neighbours.coverage(rule) > best.coverage:
                    verified = verify(rule)
                    best = verified if verified.is_precise else best
            n_stalled = 0 if arms.highest > highest else n_stalled + 1
            if arms.highest > highest:
                closest, highest = beam[0], arms.highest
            size += 1
        return best if best.is_precise else verify(closest)

    def _extend_rules(
        self, neighbours: Neighbours, beam: list[_Rule], best: Anchor
    ) -> list[_Rule]:
        """Rules with one more condition that may cover more than the best anchor."""
        rules = set()
        for rule in beam:
            if neighbours.coverage(rule) < self.least_coverage:
                continue
            addable = np.ones(neighbours.n_conditions, dtype=bool)
            if best.is_precise:
                # More conditions cover less: a rule that covers no more cannot win.
                addable = neighbours.coverages(rule) > best.coverage
            addable[list(rule)] = False
            added = np.flatnonzero(addable).tolist()
            rules |= {tuple(sorted((*rule, condition))) for condition in added}
        return sorted(rules)


class _BestArms:
    """The rules of highest precision, identified by few draws with KL-LUCB.

    Each rule is an arm of a bandit (Kaufmann & Kalyanakrishnan 2013). Here all rules
    have the same draws, in stages, each of which doubles the draws of the rules that
    may still be on the wrong side. Two rules differ in precision by the share of draws
    on which only the first keeps the answer, less the share on which only the second
    does: as most answers agree, few draws bound this difference. The bounds of one pair
    hold in all stages together, but the bounds of all pairs do not hold together: the
    best rules are verified by other draws.
    """

    def __init__(
        self, search: AnchorSearch, neighbours: Neighbours, rules: list[_Rule]
    ) -> None:
        self._search, self._neighbours, self._rules = search, neighbours, rules
        self._n_draws = np.zeros(len(rules), dtype=np.intp)
        # Answers of the rules to their draws, False for draws not made yet.
        self._keeps_answer = np.zeros((len(rules), neighbours.n_draws), dtype=bool)

    @property
    def _means(self) -> NDArray[np.float64]:
        """Estimated precisions, (n_rules,)."""
        return self._keeps_answer.sum(axis=1) / self._n_draws

    @property
    def highest(self) -> float:
        """The highest estimated precision."""
        return float(self._means.max())

    def find_beam(self) -> list[_Rule]:
        """The rules of the beam, by falling precision."""
        unclear, n_draws, stage = np.arange(len(self._rules)), _FIRST_DRAWS, 0
        while True:
            stage += 1
            self._draw_answers(unclear, min(n_draws, self._neighbours.n_draws))
            unclear = self._unclear_rules(stage)
            if not len(unclear) or n_draws >= self._neighbours.n_draws:
                return [self._rules[k] for k in self._split_beam()[0]]
            n_draws *= 2

    def _split_beam(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of the rules of the beam, and of the others."""
        order = np.argsort(-self._means, kind="stable")
        return order[: self._search.beam_size], order[self._search.beam_size :]

    def _unclear_rules(self, stage: int) -> NDArray[np.intp]:
        """Rules that may be on the wrong side of the beam's end, by more than tau."""
        top, others = self._split_beam()
        if not len(others):
            return others
        n_draws = np.minimum.outer(self._n_draws[top], self._n_draws[others])
        n_seen = n_draws.max()
        # Products of single precision are exact for 2^24 draws.
        keeps = self._keeps_answer[:, :n_seen].astype(np.float32)
        changes = (np.arange(n_seen) < self._n_draws[:, None]) - keeps
        level = self._search.level(2 * stage * (stage + 1))
        # Draws on which only the other rule, or only the top one, keeps the answer.
        high = kl_bounds(changes[top] @ keeps[others].T, n_draws, level)[1]
        low = kl_bounds(keeps[top] @ changes[others].T, n_draws, level)[0]
        unclear = high - low > self._search.tau
        return np.concatenate([top[unclear.any(axis=1)], others[unclear.any(axis=0)]])

    def promising_rules(self, beam: list[_Rule]) -> list[_Rule]:
        """Rules of the beam that may have enough precision, by falling coverage."""
        n_kept = self._keeps_answer.sum(axis=1)
        _, high = kl_bounds(n_kept, self._n_draws, self._search.level(1))
        chosen = high[self._split_beam()[0]] >= self._search.precision
        rules = [
            rule for rule, is_chosen in zip(beam, chosen, strict=True) if is_chosen
        ]
        return sorted(rules, key=self._neighbours.coverage, reverse=True)

    def _draw_answers(self, chosen: NDArray[np.intp], stop: int) -> None:
        """Get the answers of some rules on their draws up to `stop`."""
        rules = [self._rules[k] for k in chosen]
        stops = np.full(len(chosen), stop)
        starts = self._n_draws[chosen]
        row, draws = np.nonzero(np.arange(stop) >= starts[:, None])
        self._keeps_answer[chosen[row], draws] = self._neighbours.keeps_answer(
            rules, starts, stops
        )
        self._n_draws[chosen] = stop


class _Verifier:
    """Bounds of the precision of rules, from draws not used in their selection.

    The k-th look at any rule gets the share 1 / (k (k + 1)) of delta. These shares sum
    to one: all lower bounds hold with probability 1 - delta, and so do all upper ones.
    """

    def __init__(self, search: AnchorSearch, neighbours: Neighbours) -> None:
        self._search, self._neighbours = search, neighbours
        self._n_looks = 0

    def __call__(self, rule: _Rule) -> Anchor:
        """The `Anchor` of a rule, with draws until its bounds decide the precision."""
        target, n_draws = self._search.precision, self._neighbours.n_draws
        stop, is_first, n_kept = 0, True, np.zeros(1, dtype=np.intp)
        while True:
            self._n_looks += 1
            level = self._search.level(self._n_looks * (self._n_looks + 1))
            # With fewer draws the lower bound fails even if all answers are kept.
            fewest = max(int(np.ceil(level / -np.log(target))), _FIRST_DRAWS)
            start, stop = stop, min(max(2 * stop, fewest), n_draws)
            # The second half of the draws.
            span = [n_draws + start], [n_draws + stop]
            n_kept += self._neighbours.count_kept([rule], *span)
            low, high = kl_bounds(n_kept, np.array([stop]), level)
            mean = n_kept[0] / stop
            fails = high[0] < target or (not is_first and mean < target)
            if low[0] >= target or fails or stop == n_draws:
                break
            is_first = False
        return Anchor(
            rule,
            is_precise=low.item() >= target,
            precision=mean.item(),
            low=low.item(),
            high=high.item(),
            coverage=self._neighbours.coverage(rule),
        )


def kl_bounds(
    n_kept: NDArray[np.integer] | NDArray[np.floating],
    n_draws: NDArray[np.intp],
    level: float,
) -> NDArray[np.float64]:
    """Bounds of probabilities: q with n KL(mean, q) = level, below and above the mean.

    Parameters
    ----------
    n_kept, n_draws : ndarray of shape (n,), int
        Successes and trials.
    level : float
        Each bound fails with a probability of at most exp(-level) (Chernoff's bound).
    """
    mean = n_kept / n_draws
    # KL(mean, q) is the cross entropy of mean and q, less the entropy of mean.
    negative_entropy = xlogy(mean, mean) + xlog1py(1 - mean, -mean)
    largest = level / n_draws - negative_entropy
    inner, outer = np.stack([mean, mean]), np.stack([0 * mean, 0 * mean + 1])
    for _ in range(_BISECTIONS):
        middle = (inner + outer) / 2
        is_inside = -xlogy(mean, middle) - xlog1py(1 - mean, -middle) <= largest
        inner = np.where(is_inside, middle, inner)
        outer = np.where(is_inside, outer, middle)
    return outer
