"""Moments: any chunking, order and merge tree gives what two passes over all rows give."""

from __future__ import annotations

import itertools
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icid_rs import ICID, Moments
from tests.helpers.needs import need


def table(n: int, d: int, seed: int, *, offset: float = 1e6) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.exponential(size=(n, d)) @ random.normal(size=(d, d)) + offset


def two_passes(X: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, covariance and third moments in extended precision, relative to the first row so that it suffices."""
    w = np.ones(len(X)) if weights is None else weights
    w = w.astype(np.longdouble)[:, None] / w.sum()
    first = X[0].astype(np.longdouble)
    Y = X.astype(np.longdouble) - first
    mean = (w * Y).sum(axis=0)
    Y -= mean
    return first + mean, (w * Y).T @ Y, (w * Y * Y).T @ Y


def assert_equal_to(moments: Moments, X: np.ndarray, weights: np.ndarray | None = None, tolerance: float = 1e-12):
    mean, covariance, third = two_passes(X, weights)
    scale = np.sqrt(covariance.diagonal())
    assert np.abs(moments.mean - mean).max() <= tolerance * np.abs(mean).max()
    assert (np.abs(moments.covariance - covariance) / np.outer(scale, scale)).max() <= tolerance
    if moments.third is not None:
        assert (np.abs(moments.third - third) / np.outer(scale**2, scale)).max() <= tolerance


@pytest.mark.parametrize("layout", ["rows", "columns", "every other row", "backwards"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equals_two_passes(layout, dtype):
    X = table(700, 53, 0).astype(dtype)
    X = {"rows": X, "columns": np.asfortranarray(X), "every other row": X[::2], "backwards": X[::-1, ::-1]}[layout]
    weights = np.random.default_rng(1).exponential(size=len(X))
    assert_equal_to(Moments(third=True).update(X), X)
    assert_equal_to(Moments(third=True).update(X, weights), X, weights)


@given(cuts=st.lists(st.integers(0, 400), max_size=6), seed=st.integers(0, 1000), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_chunking_order_and_merge_tree(cuts, seed, weighted):
    random = np.random.default_rng(seed)
    X = table(400, int(random.integers(1, 30)), seed)
    weights = random.exponential(size=400) if weighted else None
    bounds = [0, *sorted(cuts), 400]
    ranges = list(itertools.pairwise(bounds))
    random.shuffle(ranges)
    parts = []
    for a, b in ranges:
        part = Moments(third=True) if random.random() < 0.7 or not parts else parts.pop()
        parts.append(part.update(X[a:b], None if weights is None else weights[a:b]))
    while len(parts) > 1:
        i, j = random.choice(len(parts), 2, replace=False)
        merged = parts[i] + parts[j]
        parts = [part for k, part in enumerate(parts) if k not in (i, j)] + [merged]
    assert parts[0].n == 400
    assert_equal_to(parts[0], X, weights)
    whole = Moments(third=True).update(X, weights)
    assert np.array_equal(parts[0]._reservoir.keys, whole._reservoir.keys)
    assert np.array_equal(parts[0]._reservoir.rows, whole._reservoir.rows)


def test_means_that_drift_lose_nothing():
    X = table(20_000, 5, 0, offset=0.0)
    X[10_000:] += 1e6
    X[:10, 0] += 1e9
    moments = Moments(third=True)
    for start in range(0, 20_000, 3_000):
        moments.update(X[start : start + 3_000])
    assert_equal_to(moments, X)


def test_same_bits_for_any_number_of_threads():
    X = table(20_000, 120, 0)
    results = [Moments(third=True, n_threads=n).update(X) for n in (1, 2, 5)]
    for other in results[1:]:
        assert np.array_equal(other.covariance, results[0].covariance)
        assert np.array_equal(other.third, results[0].third)
        assert np.array_equal(other.rows, results[0].rows)


def test_constant_columns_have_no_variance_at_all():
    X = table(5_000, 3, 0)
    X[:, 1] = 0.1
    moments = Moments().update(X[:100]) + Moments().update(X[100:])
    assert moments.covariance[1, 1] == 0
    with pytest.raises(ValueError, match="constant column"):
        ICID().fit(moments)


def test_missing_values_are_refused_by_name_and_nothing_is_added():
    moments = Moments(names=["a", "b"]).update(np.ones((4, 2)))
    bad = np.ones((20_000, 2))
    bad[19_999, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN: row 19999, column 'b'; it follows 4 rows"):
        moments.update(bad)
    assert moments.n == 4
    bad[7, 0] = np.inf
    with pytest.raises(ValueError, match="inf: row 7, column 'a'"):
        moments.update(bad)


def test_missing_values_are_dropped_by_rows():
    X = table(1_000, 4, 0)
    bad = X.copy()
    bad[::7, 2] = np.nan
    bad[0, 0] = -np.inf
    good = np.isfinite(bad).all(axis=1)
    moments = Moments(missing="drop", third=True).update(bad)
    assert_equal_to(moments, X[good])
    assert (moments.n, moments.dropped) == (good.sum(), 1_000 - good.sum())
    assert np.isfinite(moments.rows).all()
    assert len(moments.rows) == good.sum()


def test_weights_are_relative_and_zero_is_absence():
    X = table(500, 4, 0)
    weights = np.random.default_rng(0).exponential(size=500)
    weights[::3] = 0
    one, other = Moments(third=True).update(X, weights), Moments(third=True).update(X, 1000 * weights)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-13)
    np.testing.assert_allclose(one.third, other.third, rtol=1e-9)
    present = weights > 0
    assert one.n == present.sum()
    assert one.n_effective == int(weights.sum() ** 2 / (weights**2).sum())
    assert_equal_to(one, X[present], weights[present])
    assert Moments().update(X, np.full(500, 0.3)).n_effective == 500


@pytest.mark.parametrize(
    ("weights", "message"),
    [(np.ones(3), "one entry for each of the 5 rows"), (np.array([1, 1, -1, 1, 1]), r"weights\[2\] = -1")],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        Moments().update(np.ones((5, 2)), weights)


def test_sample_is_bounded_and_does_not_depend_on_cuts():
    X = table(5_000, 3, 0)
    whole = Moments(reservoir=200).update(X)
    shuffled = Moments(reservoir=200).update(np.random.default_rng(0).permutation(X))
    assert whole.rows.shape == (200, 3)
    assert not whole.complete
    assert np.array_equal(whole.rows, shuffled.rows)
    other = Moments(reservoir=200, random_state=1).update(X)
    assert len({tuple(row) for row in whole.rows} & {tuple(row) for row in other.rows}) < 50
    with pytest.raises(ValueError, match="different seeds"):
        whole.merge(other)
    # A fair sample: the mean of each column is where chance puts it.
    deviation = (whole.rows.mean(axis=0) - X.mean(axis=0)) / X.std(axis=0) * np.sqrt(200)
    assert np.abs(deviation).max() < 4


def test_sample_counts_equal_rows():
    X = np.random.default_rng(0).integers(0, 2, size=(10_000, 3)).astype(float)
    X[:, 0] *= X[:, 1]
    moments = Moments(reservoir=1_000)
    for start in range(0, 10_000, 700):
        moments.update(X[start : start + 700])
    assert moments.complete
    assert moments.rows.shape == (1_000, 3)
    np.testing.assert_allclose(moments.rows.mean(axis=0), X.mean(axis=0), atol=0.01)


def test_save_and_load(tmp_path):
    moments = Moments(names=["a", "b", "ç"], third=True, reservoir=50).update(table(200, 3, 0))
    moments.save(tmp_path / "m.npz")
    loaded = Moments.load(tmp_path / "m.npz")
    for one in (loaded, pickle.loads(pickle.dumps(moments)), moments.copy()):
        assert one.names == moments.names
        assert one.n == 200
        assert np.array_equal(one.covariance, moments.covariance)
        assert np.array_equal(one.third, moments.third)
        assert np.array_equal(one.rows, moments.rows)
    more = table(100, 3, 1)
    assert np.array_equal(loaded.update(more).covariance, moments.update(more).covariance)
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]


def test_moments_of_no_rows_can_be_saved(tmp_path):
    Moments(third=True).save(tmp_path / "m.npz")
    loaded = Moments.load(tmp_path / "m.npz").update(table(200, 3, 0))
    assert np.array_equal(loaded.third, Moments(third=True).update(table(200, 3, 0)).third)
    assert len(loaded.rows) == 200


def test_the_sample_is_bounded_in_numbers(monkeypatch):
    monkeypatch.setattr("icid_rs.data.row_sums.NUMBERS", 100)
    assert len(Moments().update(table(50, 3, 0)).rows) == 33
    assert len(Moments(reservoir=40).update(table(50, 3, 0)).rows) == 40


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "m.npz"
    moments = Moments().update(table(20, 3, 0))
    moments.save(path)
    with np.load(path) as file:
        content = dict(file)
    for change, message in [
        ({"second": np.full((3, 3), np.nan)}, "second is not finite"),
        ({"mean": np.zeros(4)}, "mean has shape"),
        ({"rows": np.array([["a"]])}, "rows holds"),
        ({"header": np.array("{}")}, "does not hold moments"),
    ]:
        np.savez(path, **{**content, **change})
        with pytest.raises(ValueError, match=message):
            Moments.load(path)
    np.savez(path, header=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="does not hold moments"):
        Moments.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="does not hold moments"):
        Moments.load(path)


def test_columns_must_stay_the_same():
    pandas = need("pandas")
    frame = pandas.DataFrame(table(10, 3, 0), columns=["a", "b", "c"])
    moments = Moments().update(frame)
    assert moments.names == ["a", "b", "c"]
    with pytest.raises(ValueError, match="'c' is where 'a' was"):
        moments.update(frame[["c", "b", "a"]])
    with pytest.raises(ValueError, match="2 columns, but 3 before"):
        moments.update(np.ones((5, 2)))
    with pytest.raises(ValueError, match="not numeric"):
        moments.update(frame.assign(a="x"))
    assert moments.n == 10


def test_unlike_moments_are_not_merged():
    with pytest.raises(ValueError, match="third"):
        Moments(third=True).update(np.eye(2)).merge(Moments().update(np.eye(2)))
    with pytest.raises(TypeError):
        Moments() + 1
    moments = Moments().update(np.eye(3))
    assert moments.merge(moments).n == 6


def test_updates_from_several_threads_do_not_mix():
    X = table(4_000, 40, 0)
    results: list = [None] * 4

    def run(k: int) -> None:
        results[k] = Moments(third=True).update(X)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result.third, results[0].third) for result in results)
