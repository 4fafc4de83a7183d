"""Other packages beside this one, on the same data, each in an environment of its own.

    python -m benches.peers smoke     # makes the environments; every method must solve an easy case
    python -m benches.peers fill      # runs what the tables still lack; may be stopped and resumed at any time
    python -m benches.peers machines  # on another machine than the stored runs are from: how the two compare
    python -m benches.peers page      # draws docs/benchmarks/results.md from the stored runs

Run them in the root of the repository, on Linux, with `pip install ".[bench]"`. The environments take some 8 GB, most
of it PyTorch. `python -m pytest benches/peers` checks the adapters and that the page is what the stored runs say.

adapters/     one file for each package: what to install, how to call it, with which settings
cases.py      the simulated data, and which cells the tables have
environments.py, worker.py, runs.py   a run: an environment, a process with limits, a line of results
scores.py     how far a graph is from the true one
machines.py   how the machines compare on one case
store.py      the stored runs: results/runs.csv, and lines since then
cells.py, report.py, figures.py   the page
"""
