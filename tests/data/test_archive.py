"""Archives of arrays: damage and contradictions are named, and nothing is unpacked beyond reason."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io

from icid_rs import Moments, datasets
from icid_rs.data.archive import read_arrays

X = np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture
def moments(tmp_path):
    path = tmp_path / "moments.npz"
    Moments(names=["a", "b", "c"]).update(X).save(path)
    return path


def rewrite(path, **changes):
    """Write an archive again with some arrays changed, or without them."""
    with np.load(path) as content:
        arrays = {**{name: content[name] for name in content.files}, **changes}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


SECOND = np.array([[1.0, 0.5, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
CHANGES = {
    "asymmetric": ({"second": SECOND}, "second is not symmetric"),
    "impossible": ({"second": np.array([[1.0, 2, 0], [2, 1.0, 0], [0, 0, 1.0]])}, "second has a correlation above 1"),
    "negative variance": ({"second": -np.eye(3)}, "a variance or a weight is negative"),
    "negative weights": ({"weight": np.array([-50.0, 50.0])}, "a variance or a weight is negative"),
    "negative row weights": ({"row_weights": -np.ones(50)}, "a variance or a weight is negative"),
    "weights of more rows": ({"weight": np.array([500.0, 500.0])}, "the weights are those of more than 50 rows"),
    "not finite": ({"mean": np.array([0, np.nan, 0])}, "mean is not finite"),
    "another shape": ({"mean": np.zeros(2)}, "mean has shape"),
    "another type": ({"mean": np.zeros(3, dtype=np.float32)}, "mean holds float32"),
    "missing member": ({"keys": None}, "keys is missing"),
    "strange member": ({"extra": np.zeros(3)}, "member 'extra' does not belong"),
    "no header": ({"header": None}, "does not hold moments"),
    "key that occurs twice": (
        {"header": np.array('{"format": "icid_rs moments", "format": "x"}')},
        "'format' occurs twice",
    ),
    "nested header": ({"header": np.array("[" * 100_000)}, "member 'header': it is nested too deeply"),
    "other version": ({"header": np.array(json.dumps({"format": "icid_rs moments", "version": 9}))}, "of version 9"),
}


@pytest.mark.parametrize("kind", list(CHANGES))
def test_contradictions_are_refused(moments, kind):
    changes, message = CHANGES[kind]
    rewrite(moments, **changes)
    with pytest.raises(ValueError, match=r"moments\.npz") as caught:
        Moments.load(moments)
    assert message in str(caught.value)


def test_what_was_saved_is_read(moments):
    assert Moments.load(moments).n == 50
    weighted = Moments().update(X, weights=np.arange(50.0))
    weighted.save(moments)
    assert Moments.load(moments).n_effective == weighted.n_effective


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_archives_that_end_too_early(moments, share):
    whole = moments.read_bytes()
    moments.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"moments\.npz"):
        Moments.load(moments)


def test_members_are_named(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, names=np.array(["a", "b", "c"]))
    content = bytearray(path.read_bytes())
    content[content.index(b"NUMPY") + 400] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"data\.npz.*'X(\.npy)?'"):
        read_arrays(path)
    for names, message in ((["X.npy", "X.npy"], "more than once"), (["readme.txt"], "'readme.txt' is no array")):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                with pytest.warns(UserWarning, match="Duplicate") if archive.namelist() else nothing():
                    archive.writestr(name, b"x")
        with pytest.raises(ValueError, match=message):
            read_arrays(path)


def nothing():
    import contextlib

    return contextlib.nullcontext()


def npy(shape, data=b""):
    """Return a ``.npy`` file whose header claims a shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def compressed_mat(data):
    header = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    packed = zlib.compress(data, 9)
    return header + struct.pack("<II", 15, len(packed)) + packed


ZEROS = bytes(1 << 27)
BOMBS = {
    "a .npy that claims more": ("data.npy", lambda: npy((10**12,)), read_arrays),
    "a .npy of many dimensions": ("data.npy", lambda: npy((10**4,) * 6), read_arrays),
    "a .npy with an enormous dimension": ("data.npy", lambda: npy((2**62, 4)), read_arrays),
    "an .npz that unpacks to much": ("data.npz", lambda: zipped({"X.npy": npy((1 << 24,), ZEROS)}), read_arrays),
    "an .npz of many members": (
        "data.npz",
        lambda: zipped({f"x{k}.npy": npy((1 << 20,), ZEROS[: 1 << 23]) for k in range(16)}),
        read_arrays,
    ),
    "a member that claims more": ("data.npz", lambda: zipped({"X.npy": npy((10**12,))}), read_arrays),
    "moments that unpack to much": ("data.npz", lambda: zipped({"second.npy": npy((1 << 24,), ZEROS)}), Moments.load),
    "a .mat that unpacks to much": ("data.mat", lambda: compressed_mat(ZEROS), datasets.load_netsim),
    "a .mat of many elements": (
        "data.mat",
        lambda: compressed_mat(struct.pack("<II", 14, 1 << 27) + ZEROS),
        datasets.load_netsim,
    ),
}


def zipped(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("kind", list(BOMBS))
def test_bombs_do_not_fill_the_memory(kind, tmp_path):
    name, content, read = BOMBS[kind]
    path = tmp_path / name
    path.write_bytes(content())
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=name.replace(".", r"\.")):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_ordinary_mat_files_are_read(tmp_path):
    path = tmp_path / "sim.mat"
    net = np.array([[[-1.0, 0.4], [0.0, -1.0]]])
    scipy.io.savemat(path, {"ts": np.zeros((20_000, 2)), "net": net}, do_compression=True)
    assert datasets.load_netsim(path)[0].shape == (20_000, 2)
