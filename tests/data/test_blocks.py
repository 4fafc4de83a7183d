"""Layout of variables as blocks of columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icid_rs.data.blocks import Blocks, indicators

LEVELS = st.lists(st.none() | st.integers(2, 6).map(lambda k: tuple(range(k))), max_size=12)


@given(LEVELS)
def test_parts_tile_the_columns(levels):
    blocks = Blocks.of(levels)
    tiled = [k for j in range(blocks.variables) for k in range(blocks.part(j).start, blocks.part(j).stop)]
    assert tiled == list(range(blocks.columns))
    np.testing.assert_array_equal(
        blocks.variable_of, [j for j, width in enumerate(blocks.widths) for _ in range(width)]
    )
    assert blocks.is_single == all(own is None or len(own) == 2 for own in levels)
    assert len(blocks.column_names(range(blocks.variables))) == blocks.columns


@given(LEVELS, st.randoms(use_true_random=False))
def test_a_selection_keeps_the_columns_of_each_variable(levels, chance):
    blocks = Blocks.of(levels)
    chosen = chance.sample(range(len(levels)), chance.randint(0, len(levels)))
    part, columns = blocks.select(chosen)
    names = blocks.column_names(range(blocks.variables))
    assert part.column_names(chosen) == [names[k] for k in columns]


def test_layouts_do_not_change():
    with pytest.raises(ValueError, match="read-only"):
        Blocks.numbers(2).offsets[0] = 1
    with pytest.raises(ValueError, match="two levels"):
        Blocks.of([("only",)])


def test_indicators_add_up_to_the_levels():
    codes = np.random.default_rng(0).integers(-1, 4, 200)
    columns = indicators(codes, 4)
    there = codes >= 0
    assert np.isnan(columns[~there]).all()
    np.testing.assert_array_equal(columns[there] @ np.arange(1, 4), codes[there])


def test_the_determinant_does_not_depend_on_the_reference():
    rng = np.random.default_rng(1)
    codes, x = rng.integers(0, 4, 500), rng.normal(size=500)
    x = x + codes

    def score(renamed):
        C = np.cov(np.column_stack([indicators(renamed, 4), x]).T)
        return np.linalg.slogdet(C)[1] - np.linalg.slogdet(C[:3, :3])[1]

    assert score(codes) == pytest.approx(score(3 - codes), abs=1e-9)
