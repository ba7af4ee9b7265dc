"""What residuals prove about separation, against linear programs."""

import numpy as np
import pytest

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.regression.separation import (
    rising_direction,
    rules_out_separation,
)
from sklearn_interpret._core.statistics.score_losses import HalfTweedie, Logistic


def fitted(loss, design, targets, weights):
    """The model of no penalty; parameters of separated rows end at large sizes."""
    zeros = np.zeros((design.shape[1], 1))
    model = ScoreModel(design, targets[:, None], weights, zeros, zeros, loss, zeros)
    return model.at_optimum()


@pytest.mark.parametrize("classes", [True, False])
def test_no_proof_contradicts_a_linear_program(classes):
    rng = np.random.RandomState(0)
    n_proofs = n_separated = 0
    for _ in range(400):
        n_rows, n_columns = rng.randint(3, 30), rng.randint(1, 4)
        # Few distinct values: many ties, and rows on the separating plane.
        columns = rng.randint(-2, 3, (n_rows, n_columns))
        design = np.column_stack([columns, np.ones(n_rows)]).astype(float)
        scores = rng.choice([0.5, 3]) * design @ rng.randn(n_columns + 1)
        if classes:
            loss = Logistic()
            targets = (rng.rand(n_rows) < 1 / (1 + np.exp(-scores))).astype(float)
            signed, fixed = design * (2 * targets - 1)[:, None], design[:0]
        else:
            loss = HalfTweedie(1)
            targets = rng.poisson(np.exp(np.minimum(scores, 3))).astype(float)
            signed, fixed = -design[targets == 0], design[targets > 0]
        if not classes and not targets.any():
            continue
        model = fitted(loss, design, targets, rng.choice([1.0, 7.0], n_rows))
        proof = rules_out_separation(model, model.parameters[:, 0])
        is_separated = len(signed) > 0 and rising_direction(signed, fixed) is not None
        assert not (proof and is_separated)
        n_proofs, n_separated = n_proofs + proof, n_separated + is_separated
    assert n_proofs > 30
    assert n_separated > 30


def test_large_scores_alone_are_no_separation():
    rng = np.random.RandomState(0)
    design = np.column_stack([rng.randn(2000, 3), np.ones(2000)])
    scores = design @ [8.0, 8.0, 8.0, 0.0]
    targets = (rng.rand(2000) < 1 / (1 + np.exp(-scores))).astype(float)
    model = fitted(Logistic(), design, targets, np.ones(2000))
    assert np.abs(model.scores_at(model.parameters)).max() > 30
    assert rules_out_separation(model, model.parameters[:, 0])
