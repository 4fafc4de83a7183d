"""Moments of tables with categories: those of the rows, however they came."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID, Moments

LEVELS = {"soil": ["clay", "loam", "sand", "peat"], "wet": [0, 1]}


def fields(n: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sun, rain = rng.normal(size=(2, n))
    soil = np.array(LEVELS["soil"])[np.searchsorted([-1, 0, 1], rain - sun + rng.normal(size=n))]
    crop = 2.0 * (soil == "loam") - 1.0 * (soil == "sand") + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"sun": sun, "rain": rain, "soil": soil, "wet": (rain > 0.5).astype(int), "crop": crop})


@pytest.fixture(scope="module")
def streamed() -> Moments:
    table = fields()
    moments = Moments(categories=LEVELS)
    for start in range(0, len(table), 250):
        moments.update(table.iloc[start : start + 250])
    return moments


def test_the_fit_is_that_of_the_rows(streamed):
    table = fields()
    told = {"soil": pd.Categorical(table["soil"], LEVELS["soil"])}
    rows, model = ICID(categorical=["wet"]).fit(table.assign(**told)), ICID().fit(streamed)
    assert model.variables_ == list(table.columns)
    assert model.info_["categories"] == rows.info_["categories"] == {"soil": 4}
    np.testing.assert_allclose(model.adjacency_matrix_.toarray(), rows.adjacency_matrix_.toarray(), atol=1e-9)
    assert (model.cpdag_ != rows.cpdag_).nnz == 0
    assert set(model.coefficients("rain", "soil").columns) == set(LEVELS["soil"])


def test_merged_saved_and_read_again(streamed, tmp_path):
    table = fields()
    parts = [Moments(categories=LEVELS).update(table[:400]), Moments(categories=LEVELS).update(table[400:])]
    streamed.save(tmp_path / "fields.npz")
    table.to_csv(tmp_path / "fields.csv", index=False)
    read = Moments.read(tmp_path / "fields.csv", categories=LEVELS)
    for other in (parts[0] + parts[1], Moments.load(tmp_path / "fields.npz"), read):
        assert other.categories == {name: tuple(levels) for name, levels in LEVELS.items()}
        np.testing.assert_allclose(other.covariance, streamed.covariance, rtol=1e-9, atol=1e-12)


def test_levels_that_look_like_numbers(tmp_path):
    levels = {"kind": ["1", "2", "A"]}
    table = pd.DataFrame({"kind": ["1", "2"] * 50 + ["A"] * 50, "size": np.random.default_rng(0).normal(size=150)})
    table.to_csv(tmp_path / "kinds.csv", index=False)
    moments = Moments(categories=levels)
    for chunk in (table[:100].astype({"kind": int}), table[100:]):
        moments.update(chunk)
    read = Moments.read(tmp_path / "kinds.csv", categories=levels)
    np.testing.assert_allclose(read.mean, moments.mean)
    np.testing.assert_allclose(read.mean[:2], 1 / 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.assign(soil="rock"), "'soil' holds 'rock', which is none of its levels"),
        (lambda table: table.assign(crop="much"), "'crop' does not hold numbers; give its levels in categories="),
        (lambda table: table.drop(columns="soil"), "there is no column 'soil'"),
        (lambda table: table.assign(soil=None), "contains NaN: row 0, column 'soil=loam'"),
    ],
)
def test_bad_chunks(change, message):
    with pytest.raises(ValueError, match=message):
        Moments(categories=LEVELS).update(change(fields(50)))


def test_bad_categories(streamed):
    with pytest.raises(ValueError, match="'soil' needs two different levels"):
        Moments(categories={"soil": ["clay", "clay"]})
    with pytest.raises(ValueError, match="different categories"):
        streamed.copy().merge(Moments(categories={"soil": LEVELS["soil"]}).update(fields(20)))
    more = {**LEVELS, "soil": [*LEVELS["soil"], "rock"]}
    with pytest.raises(ValueError, match=r"no row has the level\(s\) 'rock' of 'soil'"):
        ICID().fit(Moments(categories=more).update(fields()))
    with pytest.raises(ValueError, match="adjust needs the rows themselves"):
        ICID(adjust=["sun"]).fit(streamed)
