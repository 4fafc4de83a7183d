"""Which rows are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs.trust.resampling import Resampling, block_length


def draw_all(n=30, count=8, **options):
    scheme = Resampling(n, 0, **options)
    return [scheme.draw(k) for k in range(count)]


def test_rows():
    for rows, groups in draw_all():
        assert groups is None
        assert rows.shape == (30,)
        assert 0 <= rows.min() <= rows.max() < 30
        assert len(set(rows)) < 30


def test_seeds_are_those_that_spawn_gives():
    for k, child in enumerate(np.random.SeedSequence(7).spawn(4)):
        rows, _ = Resampling(30, 7).draw(k)
        np.testing.assert_array_equal(rows, np.random.default_rng(child).integers(0, 30, 30))


@given(n=st.integers(4, 60), block=st.integers(1, 9), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_blocks_are_consecutive(n, block, seed):
    rows, _ = Resampling(n, seed, block=block).draw(0)
    assert rows.shape == (n,)
    steps = np.diff(rows) % n
    inside = np.arange(1, n) % block != 0
    assert (steps[inside] == 1).all()


def test_every_row_is_as_likely_with_blocks():
    counts = sum(np.bincount(rows, minlength=30) for rows, _ in draw_all(count=4000, block=7))
    np.testing.assert_allclose(counts / 4000, 1.0, atol=0.1)


def test_groups_are_whole():
    member = np.repeat([2, 0, 1, 3], [5, 9, 6, 10])
    for rows, groups in draw_all(member=member):
        assert len(set(groups)) == 4
        for g in range(4):
            drawn = rows[groups == g]
            assert sorted(drawn) == np.flatnonzero(member == member[drawn[0]]).tolist()


@pytest.mark.parametrize("options", [{}, {"block": 4}, {"member": np.arange(30) % 6}])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_subsamples(options, share):
    draws = [rows for rows, _ in draw_all(subsample=share, **options)]
    for rows in draws:
        assert len(set(rows)) == len(rows) <= share * 30 + 1e-9
    if share <= 0.5:
        for one, other in zip(draws[::2], draws[1::2], strict=True):
            assert not set(one) & set(other)


def test_block_length_of_autoregression():
    """In closed form, for correlations ρ^k: the cube root of 3/2 (2ρ / (1 − ρ²))² n."""
    rng = np.random.default_rng(0)
    n = 20_000
    for rho in (0.4, 0.8):
        steps = rng.normal(size=(n, 10))
        X = np.zeros_like(steps)
        for t in range(1, n):
            X[t] = rho * X[t - 1] + steps[t]
        expected = np.cbrt(1.5 * n * (2 * rho / (1 - rho**2)) ** 2)
        lengths = [block_length(X[:, [k]]) for k in range(10)]
        assert np.median(lengths) == pytest.approx(expected, rel=0.3)
    assert block_length(rng.normal(size=(n, 1))) <= 5
    assert block_length(np.ones((50, 2))) == 1


@pytest.mark.parametrize("options", [{}, {"block": 3}, {"member": np.arange(60) % 20}, {"subsample": 0.5}])
def test_bags_stay_together_and_keep_variances(options):
    scheme = Resampling(60, 0, **options).in_bags(10)
    draws = np.array([np.bincount(scheme.draw(k)[0], minlength=60) for k in range(3000)])
    bags = np.unique(draws.T, axis=0, return_inverse=True)[1]
    assert bags.max() == 9
    np.testing.assert_array_equal(np.bincount(bags), 6)
    # The variance of a sum over independent rows, as if they were drawn one by one.
    values = np.random.default_rng(0).normal(size=(60, 200))
    spread = (draws @ (values - values.mean(axis=0))).var(axis=0).mean()
    assert spread == pytest.approx(60 * (0.25 if "subsample" in options else 1.0), rel=0.2)


def test_few_units_make_no_bags():
    few = [
        (Resampling(30, 0), 30),
        (Resampling(30, 0, member=np.arange(30) // 2), 15),
        (Resampling(30, 0, block=8), 10),
    ]
    for scheme, bags in few:
        assert scheme.in_bags(bags) is scheme
