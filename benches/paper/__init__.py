"""The paper's tables and figures, made again with our rows beside the printed ones.

``experiments`` measure, ``store`` keeps what they found, ``printed.csv`` holds the paper's numbers, ``report`` makes a
page and its figures of both, and ``python -m benches.paper`` does it all.
"""
