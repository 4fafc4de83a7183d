"""Whether the shape of residuals may orient edges."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from icid_rs.trust.shapes import ShapeEvidence

B = sp.csr_array([[0.0, 0.8, 0.0], [0.0, 0.0, 0.8], [0.0, 0.0, 0.0]])


def chain(n: int, noise: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    e = getattr(rng, noise)(size=(n, 3))
    e -= e.mean(axis=0)
    x = np.zeros((n, 3))
    for j in range(3):
        x[:, j] = e[:, j] + (0.8 * x[:, j - 1] if j else 0.0)
    return x


def evidence(x: np.ndarray) -> ShapeEvidence:
    return ShapeEvidence.of(x, x.mean(axis=0), B, None)


ENDS = np.array([0, 1]), np.array([1, 2])


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "laplace", "uniform"])
def test_linear_models_with_independent_noise_fit(noise):
    found = evidence(chain(1000, "random" if noise == "uniform" else noise))
    assert np.isnan(found.dependence[0])
    assert found.fits
    assert found.may_orient(*ENDS).all()


def test_gaussian_residuals_have_no_shape():
    found = evidence(chain(1000, "standard_normal"))
    assert found.fits
    assert not found.may_orient(*ENDS).any()


def test_neither_scale_nor_origin_matters():
    x = chain(1000, "exponential")
    scale = np.array([1e3, 1e-3, 5.0])
    moved = ShapeEvidence.of(
        x * scale + 7.0, (x * scale + 7.0).mean(axis=0), sp.csr_array(B.toarray() / scale[:, None] * scale), None
    )
    np.testing.assert_allclose(moved.dependence, evidence(x).dependence, rtol=1e-6)


def test_unequal_spread_and_curvature_forbid_it():
    rng = np.random.default_rng(0)
    cause, noise = rng.exponential(size=(2, 2000))
    for effect in (cause * noise, np.exp(cause / 2) + 0.1 * noise):
        x = np.column_stack([cause, effect])
        weight = np.cov(x.T)[0, 1] / cause.var()
        graph = sp.csr_array(np.array([[0.0, weight], [0.0, 0.0]]))
        found = ShapeEvidence.of(x, x.mean(axis=0), graph, None)
        assert found.dependence[1] > 0.1
        assert not found.may_orient(np.array([0]), np.array([1])).any()


def test_discrete_columns_have_no_shape():
    x = chain(1000, "exponential")
    x[:, 1] = np.round(x[:, 1])
    assert evidence(x).is_shaped.tolist()[1] is False
    assert not evidence(x).may_orient(*ENDS).any()
