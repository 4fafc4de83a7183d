"""PC with χ² tests and GES with BDeu of causal-learn, on one table: run by `mixed.py` in an environment that has it.

python benches/mixed_peers.py {pc-0.05,pc-0.01,ges-bdeu} rows.npy graph.npy
"""

from __future__ import annotations

import sys

import numpy as np


def main() -> None:
    method, source, target = sys.argv[1:]
    rows = np.load(source)
    if method.startswith("pc-"):
        from causallearn.search.ConstraintBased.PC import pc

        graph = pc(rows, alpha=float(method[3:]), indep_test="chisq", show_progress=False).G.graph
    else:
        from causallearn.search.ScoreBased.GES import ges

        graph = ges(rows, score_func="local_score_BDeu")["G"].graph
    np.save(target, graph != 0)


if __name__ == "__main__":
    main()
