"""Tests of the package; its folders are those of `python/icid_rs`.

`tests.reliability` cuts across them (bad input, damaged files, threads, signals, memory), `tests.project` checks the
repository itself, and `tests.helpers` is what tests share.
"""
