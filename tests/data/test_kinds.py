"""What columns are taken for, and how those that are variables become numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icid_rs import ICID
from icid_rs.data.dates import days_of
from icid_rs.data.encoded import encode
from icid_rs.data.frames import as_columns
from icid_rs.data.kinds import Wishes, kind_of, plain_numbers

N = 60
RNG = np.random.default_rng(0)
COLUMNS = {
    "number": (RNG.normal(size=N), "number", None),
    "with gaps": (np.where(np.arange(N) % 7, RNG.normal(size=N), np.nan), "number", None),
    "decimals": (np.arange(N) % 3 / 10, "number", None),
    "years": (1950 + np.arange(N), "number", None),
    "salary": (RNG.permutation(N) * 100, "number", None),
    "visits": (np.arange(N) % 4, "count", None),
    "codes": (np.arange(N) % 4 - 1, "number", None),
    "smokes": (np.arange(N) % 2, "boolean", None),
    "flag": (np.arange(N) % 2 == 0, "boolean", None),
    "nullable": (pd.array([True, False, None] * (N // 3), dtype="boolean"), "boolean", None),
    "answer": (["yes", "no"] * (N // 2), "boolean", None),
    "sex": (["f", "m"] * (N // 2), "category", None),
    "coded sex": (["1", "2"] * (N // 2), "category", None),
    "sparse": ((["a", "b"] * 10 + [None] * 10) * 2, "category", None),
    "typed": (pd.Categorical(["x", "y", "z"] * (N // 3)), "category", None),
    "graded": (pd.Categorical(["lo", "hi"] * (N // 2), ["lo", "hi"], ordered=True), "ordinal", None),
    "row": (np.arange(N), "none", "row numbers"),
    "row from 1": (np.arange(N) + 1.0, "none", "row numbers"),
    "patient_id": (RNG.permutation(N) * 7, "none", "an identifier, by its name and its distinct whole numbers"),
    "code": ([f"A{k}" for k in range(N)], "none", "identifiers"),
    "note": ([f"patient {k} is well" for k in range(N)], "none", "free text"),
    "text": ([f"{k}.5" for k in range(N)], "none", "numbers that are stored as text"),
    "when": (pd.date_range("2020-01-01", periods=N), "none", "dates"),
    "day": ([f"{k % 28 + 1:02}.11.2021" for k in range(N)], "none", "dates"),
    "town": ([f"t{k % 25}" for k in range(N)], "none", "25 levels in 60 rows"),
    "same": (np.full(N, 3.5), "none", "constant"),
    "same word": (["x"] * N, "none", "constant"),
    "nothing": (np.full(N, np.nan), "none", "no values"),
}
FRAME = pd.DataFrame({name: values for name, (values, _, _) in COLUMNS.items()})


@pytest.mark.parametrize("name", list(COLUMNS))
def test_kinds(name):
    _, expected, reason = COLUMNS[name]
    kind = kind_of(name, as_columns(FRAME[[name]]).parts[0], Wishes())
    assert kind.reason == reason
    # Dates have a kind of their own, with which `columns=` takes them in.
    assert kind.name == expected or (expected, kind.name) == ("none", "date")


def test_a_table_is_kept_as_far_as_it_can_be():
    encoded = encode(FRAME, Wishes())
    kept = [name for name, (_, _, reason) in COLUMNS.items() if reason is None]
    assert encoded.encoding.names == kept
    assert encoded.encoding.dropped == {name: reason for name, (_, _, reason) in COLUMNS.items() if reason}
    assert encoded.values.shape == (N, len(kept) + 1)
    place = encoded.encoding.blocks.column_names(kept)
    column = dict(zip(place, encoded.values.T, strict=True))
    np.testing.assert_array_equal(column["number"], FRAME["number"])
    np.testing.assert_array_equal(column["answer=yes"], FRAME["answer"] == "yes")
    np.testing.assert_array_equal(column["typed=z"], FRAME["typed"] == "z")
    np.testing.assert_array_equal(column["graded"], FRAME["graded"] == "hi")
    np.testing.assert_array_equal(np.isnan(column["sparse=b"]), FRAME["sparse"].isna())
    np.testing.assert_array_equal(np.isnan(column["nullable"]), FRAME["nullable"].isna())


def test_columns_take_in_what_would_be_left_out():
    chosen = ["row", "patient_id", "when", "day", "town", "number"]
    encoded = encode(FRAME, Wishes.of(chosen, None, None))
    assert encoded.encoding.names == [name for name in FRAME if name in chosen]
    widths = dict(zip(encoded.encoding.names, encoded.encoding.blocks.widths.tolist(), strict=True))
    assert widths == {"row": 1, "patient_id": 1, "when": 1, "day": 1, "town": 24, "number": 1}
    assert set(encoded.encoding.dropped.values()) == {"not among columns="}
    with pytest.raises(ValueError, match=r"columns: there is no column 'colour'; the columns are 'number'"):
        encode(FRAME, Wishes.of(["colour"], None, None))


def test_kinds_can_be_told():
    wishes = Wishes.of(["visits", "sex", "answer"], ["visits"], {"sex": ["m", "f"]})
    encoded = encode(FRAME, wishes)
    assert encoded.encoding.blocks.levels == ((0, 1, 2, 3), ("no", "yes"), None) or encoded.encoding.names
    column = dict(zip(encoded.encoding.blocks.column_names(encoded.encoding.names), encoded.values.T, strict=True))
    np.testing.assert_array_equal(column["visits=3"], FRAME["visits"] == 3)
    np.testing.assert_array_equal(column["sex"], FRAME["sex"] == "f")
    with pytest.raises(ValueError, match="'sex' cannot be both"):
        Wishes.of(None, ["sex"], ["sex"])
    with pytest.raises(TypeError, match="categorical must be a list of columns"):
        Wishes.of(None, "sex", None)


@pytest.mark.parametrize("shape", [(200, 5), (63, 2)])
def test_plain_numbers_are_seen_from_the_first_rows(shape):
    X = np.random.default_rng(1).normal(size=shape)
    assert plain_numbers(X).all()
    assert not plain_numbers(np.round(X)).any()
    assert not plain_numbers(np.full(shape, np.nan)).any()


def test_arrays_of_objects_are_tables_too():
    X = np.empty((40, 3), dtype=object)
    X[:, 0] = np.random.default_rng(0).normal(size=40) + np.arange(40) % 2 * 5
    X[:, 1] = ["a", "b"] * 20
    X[:, 2] = "same"
    with pytest.warns(UserWarning, match=r"left out: 2 \(constant\)$"):
        model = ICID().fit(X)
    assert model.variables_ == [0, 1]
    assert model.n_features_in_ == 3


def test_the_score_of_another_table_reads_it_as_the_fit_did():
    rng = np.random.default_rng(3)
    sex = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"sex": np.array(["f", "m"])[sex], "height": rng.normal(size=300) + 2 * sex, "same": "x"})
    with pytest.warns(UserWarning, match="'same'"):
        model = ICID().fit(frame)
    assert model.graph_.adjacency_matrix_.nnz == 1
    # Its levels are those of the fit even where a table has only one of them.
    women = frame[frame.sex == "f"]
    assert model.score(frame) == pytest.approx(
        (len(women) * model.score(women) + (300 - len(women)) * model.score(frame[frame.sex == "m"])) / 300
    )
    with pytest.raises(ValueError, match="column 'sex' holds 'x', which is none of its levels 'f', 'm'"):
        model.score(frame.assign(sex=["x", *frame.sex[1:]]))


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["1970-01-01", "1970-01-31T12:00"], [0, 30.5]),
        (["01/02/1970", "31/01/1970"], [31, 30]),
        (["02/01/1970", "01/31/1970"], [31, 30]),
        (["1 Feb 1970", "2 January 1970"], [31, 1]),
        (["Feb 1, 1970"], [31]),
        (["1970-02"], [31]),
        (["1970-02-30"], None),
        (["1970-01-01", "yes"], None),
        (["12", "13"], None),
    ],
)
def test_dates(texts, days):
    found = days_of(texts)
    assert (None if found is None else found.tolist()) == days
