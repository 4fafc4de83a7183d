"""Two stored runs, case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from benches.corpus.describe import values_of

#: Numbers are close if they differ by no more than this, relative to the larger of the two; in an array, to its largest
#: entry.
TOLERANCE = 1e-10
#: Single numbers below this are what rounding leaves of zero, and close to each other.
_ZERO = 1e-13
#: Keys whose texts are sentences for people, and may be worded otherwise.
_PROSE = {"reason", "note"}
#: What a finding may be: the first is a failure, the others are not.
FAILURE, CLOSE, NEW, REWORDED = "differs", "close", "new", "reworded"


@dataclass(frozen=True)
class Finding:
    """One thing in which two runs of a case are not identical."""

    kind: str
    where: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.detail}" if self.detail else self.where


def compare_runs(old: dict[str, Any], new: dict[str, Any], *, exact: bool = False, most: int = 3) -> bool:
    """Print how two stored runs differ; return whether they agree.

    Parameters
    ----------
    old, new : dict
        From `record.load`.
    exact : bool
        Count numbers that are close, but not the same, as failures.
    most : int
        Findings that are printed of each case.
    """
    _print_versions(old["versions"], new["versions"])
    before, after = old["cases"], new["cases"]
    gone = [name for name in before if name not in after]
    added = [name for name in after if name not in before]
    findings = {name: list(compare_cases(before[name], after[name])) for name in before if name in after}
    failing = {FAILURE, CLOSE} if exact else {FAILURE}
    failed = {name: found for name, found in findings.items() if any(item.kind in failing for item in found)}
    close = {name: found for name, found in findings.items() if name not in failed and _kinds(found) & {CLOSE}}
    identical = sum(not _kinds(found) & {FAILURE, CLOSE} for found in findings.values())

    print(f"{len(findings)} cases: {identical} identical to the bit, {len(close)} close, {len(failed)} differ")
    print(f"(close: within {TOLERANCE:g} relative to the larger number, or to the largest entry of an array)")
    _print_cases("differs", failed, failing, most)
    _print_cases("close", close, {CLOSE}, most)
    _print_counts("new keys", findings, NEW)
    _print_counts("reworded", findings, REWORDED)
    for label, names in (("only in the first run", gone), ("only in the second run", added)):
        if names:
            print(f"{label}: {', '.join(names)}")
    return not failed and not gone and bool(findings)


def compare_cases(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Finding]:
    """Yield what is not identical in two runs of one case."""
    if ("raises" in old) != ("raises" in new):
        what = [outcome.get("raises", {"type": "nothing", "message": ""}) for outcome in (old, new)]
        raised = [f"{each['type']} {each['message']!r}" for each in what]
        yield Finding(FAILURE, "raises", " became ".join(raised))
    elif "raises" in old:
        before, after = old["raises"], new["raises"]
        if before["type"] != after["type"]:
            yield Finding(FAILURE, "raises", f"{before['type']} became {after['type']} {after['message']!r}")
        elif before["message"] != after["message"]:
            yield Finding(REWORDED, before["type"], f"{before['message']!r} became {after['message']!r}")
    else:
        yield from compare_trees(old["result"], new["result"], "")
    yield from _compare_warnings(old["warnings"], new["warnings"])


def compare_trees(old: Any, new: Any, where: str) -> Iterator[Finding]:
    """Yield what is not identical in two results as `describe` makes them."""
    if isinstance(old, bool | str | None) or isinstance(new, bool | str | None):
        if type(old) is not type(new) or old != new:
            prose = where.rpartition(".")[2] in _PROSE and isinstance(old, str) and isinstance(new, str)
            yield Finding(REWORDED if prose else FAILURE, where, f"{_short(old)} became {_short(new)}")
    elif isinstance(old, int | float) and isinstance(new, int | float):
        yield from _compare_numbers(old, new, where)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Finding(FAILURE, where, f"length {len(old)} became {len(new)}")
        else:
            for k, (before, after) in enumerate(zip(old, new, strict=True)):
                yield from compare_trees(before, after, f"{where}[{k}]")
    elif not isinstance(old, dict) or not isinstance(new, dict) or next(iter(old)) != next(iter(new)):
        yield Finding(FAILURE, where, f"{_short(old)} became {_short(new)}")
    elif "array" in old:
        yield from _compare_arrays(old, new, where)
    elif "sparse" in old:
        yield from _compare_sparse(old, new, where)
    elif "items" in old:
        yield from compare_trees(old["items"], new["items"], where)
    else:
        yield from _compare_dicts(old["dict"], new["dict"], where)


def _compare_dicts(old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[Finding]:
    for key in [key for key in old if key not in new]:
        yield Finding(FAILURE, f"{where}.{key}", "is missing")
    for key in [key for key in new if key not in old]:
        yield Finding(NEW, f"{where}.{key}")
    for key in [key for key in old if key in new]:
        yield from compare_trees(old[key], new[key], f"{where}.{key}")


def _compare_numbers(old: float, new: float, where: str) -> Iterator[Finding]:
    if isinstance(old, int) and isinstance(new, int):
        if old != new:
            yield Finding(FAILURE, where, f"{old} became {new}")
        return
    if type(old) is type(new) and np.float64(old).tobytes() == np.float64(new).tobytes():
        return
    size = max(abs(old), abs(new))
    close = old == new or (old != old and new != new) or abs(old - new) <= TOLERANCE * size or size <= _ZERO
    yield Finding(CLOSE if close else FAILURE, where, f"{old!r} became {new!r}")


def _compare_arrays(old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[Finding]:
    for member in ("array", "shape"):
        if old[member] != new[member]:
            yield Finding(FAILURE, where, f"{old[member]} became {new[member]}")
            return
    if old == new:
        return
    # Of a large array block sums are compared; where they are not finite, nobody can tell how much its entries differ.
    before, after = values_of(old), values_of(new)
    if "digest" in old and not (old["array"].startswith("float") and np.isfinite(before + after).all()):
        yield Finding(FAILURE, where, "some of many entries differ")
        return
    if before.dtype.kind != "f":
        places = np.flatnonzero(before != after)
        yield Finding(FAILURE, where, f"{places.size} of {before.size} entries differ, first at {places[:1].tolist()}")
        return
    size = max(np.abs(values[np.isfinite(values)]).max(initial=0.0) for values in (before, after))
    with np.errstate(invalid="ignore"):
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        difference = np.where(same, 0.0, np.abs(before - after))
    worst = float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))
    kind = CLOSE if worst <= TOLERANCE * size else FAILURE
    count = int(np.count_nonzero(~same))
    yield Finding(
        kind, where, f"{count} of {before.size} entries differ by up to {worst:.2g}; the largest is {size:.2g}"
    )


def _compare_sparse(old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[Finding]:
    for member in ("sparse", "shape"):
        if old[member] != new[member]:
            yield Finding(FAILURE, where, f"{old[member]} became {new[member]}")
            return
    if old["rows"] == new["rows"] and old["columns"] == new["columns"]:
        yield from _compare_arrays(old["values"], new["values"], where)
        return
    if any("digest" in node["rows"] for node in (old, new)):
        yield Finding(FAILURE, where, f"another pattern: {old['rows']['shape']} became {new['rows']['shape']} entries")
        return
    before, after = (
        set(zip(*(values_of(node[axis]) for axis in ("rows", "columns")), strict=True)) for node in (old, new)
    )
    gone, added = ([(int(i), int(j)) for i, j in sorted(pairs)] for pairs in (before - after, after - before))
    yield Finding(FAILURE, where, f"{len(gone)} entries gone {gone[:4]}, {len(added)} added {added[:4]}")


def _compare_warnings(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[Finding]:
    before, after = (Counter(entry["category"] for entry in entries) for entries in (old, new))
    if before != after:
        messages = [entry["message"] for entry in new if after[entry["category"]] > before[entry["category"]]]
        yield Finding(FAILURE, "warnings", f"{dict(before)} became {dict(after)} {_short(messages)}")
        return
    by_category = [sorted((entry["category"], entry["message"]) for entry in entries) for entries in (old, new)]
    for (category, message), (_, other) in zip(*by_category, strict=True):
        if message != other:
            yield Finding(REWORDED, category, f"{message!r} became {other!r}")
    inside = [sum(entry["inside"] for entry in entries) for entries in (old, new)]
    if inside[0] != inside[1]:
        yield Finding(REWORDED, "warnings", f"{inside[0]} pointed into the package, now {inside[1]} do: see stacklevel")


def _kinds(found: list[Finding]) -> set[str]:
    return {item.kind for item in found}


def _print_versions(old: dict[str, str], new: dict[str, str]) -> None:
    print(f"icid_rs {old['icid_rs']} and {new['icid_rs']}")
    for name in old:
        if name != "icid_rs" and old[name] != new.get(name):
            print(f"careful: {name} {old[name]} and {new.get(name)}, which may change results by itself")


def _print_cases(title: str, cases: dict[str, list[Finding]], kinds: set[str], most: int) -> None:
    for name, found in cases.items():
        shown = [item for item in found if item.kind in kinds]
        print(f"{title}: {name}")
        for item in shown[:most]:
            print(f"    {item}")
        if len(shown) > most:
            print(f"    and {len(shown) - most} more")


def _print_counts(title: str, findings: dict[str, list[Finding]], kind: str) -> None:
    """Print each finding of a kind once, with the number of cases that have it."""
    counts = Counter(str(item) for found in findings.values() for item in set(found) if item.kind == kind)
    if counts:
        print(f"{title}, which is no failure:")
    for text, count in counts.most_common():
        print(f"  {count:4} × {text}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
