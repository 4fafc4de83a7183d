"""Claims: which directions of a graph are likely to be right, and what each rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from icid_rs import _core
from icid_rs._util.stopwatch import Stopwatch
from icid_rs.data.sample import GivenTheta, Sample
from icid_rs.graph.edges import entries_at
from icid_rs.graph.evidence import EdgeEvidence, directions, edge_ends
from icid_rs.graph.knowledge import Knowledge
from icid_rs.graph.orientation import with_directions
from icid_rs.graph.sem import Csr, LinearSem
from icid_rs.learning.learned import Learned, class_of
from icid_rs.learning.unequal import standardised
from icid_rs.options import Options
from icid_rs.precision.variants import Blocked, FewRows, Full, Precision
from icid_rs.report import ClaimRecord, Refinement
from icid_rs.trust.draws import Draws, RowDraws, draws_of
from icid_rs.trust.rules import NINE_IN_TEN, Proposal, consistent, following, stable, undisputed
from icid_rs.trust.shapes import ShapeEvidence
from icid_rs.trust.votes import Votes, Voting, poll

#: Estimates with a searcher that finds the graphs of resamples.
_Judged: TypeAlias = Full | FewRows | Blocked
#: Resamples at a time; there are more, up to the second number, while shares are close to nine in ten.
_RESAMPLES, _MOST_RESAMPLES = 40, 120
#: In tables with more variables than this there are not,
_FEW_VARIABLES = 64
#: and with more than the first number, or if equal noise variances are beyond doubt or shapes are asked too, there are
#: fewer resamples; fewest with many variables and shapes.
_MANY_VARIABLES, _FEW_RESAMPLES, _FEWEST_RESAMPLES = 200, 20, 10


@dataclass(frozen=True)
class Claimed:
    """A causal model with the evidence for its directions.

    Attributes
    ----------
    learned : Learned
        The best graph that has the claimed directions. Its `cpdag` has them alone at ``[i, j]``; edges that are left
        open are at ``[i, j]`` and ``[j, i]``.
    evidence : EdgeEvidence
    record : ClaimRecord
    """

    learned: Learned
    evidence: EdgeEvidence
    record: ClaimRecord


def claim(learned: Learned, estimate: Precision, sample: Sample, options: Options, watch: Stopwatch) -> Claimed:
    """Judge which directions of a graph may be claimed, and make the graph agree with them.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> X = datasets.sample_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], 500, random_state=0)    # 0 → 2 ← 1
    >>> ICID(noise="unequal").fit(X).fit_report_.claims.directions
    {'compelled': 2}
    """
    sem = learned.sem
    is_searched = isinstance(sem, LinearSem) and learned.choices is not None and isinstance(estimate, _Judged)
    if not is_searched or options.stability is None or not sem.B.nnz:
        return _all_that_score_tells(learned, options)
    assert isinstance(sem, LinearSem)
    assert isinstance(estimate, _Judged)
    judged = _Judge(learned, sem, estimate, sample, options).judge()
    watch.lap("claims")
    return judged


def _all_that_score_tells(learned: Learned, options: Options) -> Claimed:
    """Claim all directions that change the score when they are reversed.

    Without a search these are all of them, by the noise variances that the caller supposes.
    """
    choices, B = learned.choices, learned.sem.B
    residuals = None if choices is None else choices.residuals
    by_variance = choices is None or choices.noise.chosen != "unequal"
    is_shaped = _has_shapes(learned) and not by_variance
    rests_on = directions(
        B,
        learned.cpdag,
        knowledge=learned.knowledge,
        by_variance=by_variance and "variance" in options.orient,
        shaped=residuals.shaped if residuals is not None and is_shaped else (),
    )
    if "class" not in options.orient:
        rests_on[rests_on == "compelled"] = "open"
    return with_evidence(learned, replace(EdgeEvidence.unknown(B.nnz), direction=rests_on), ClaimRecord({}))


class _Judge:
    """A graph that was learned from data, with resamples of the data to judge it by."""

    def __init__(self, learned: Learned, sem: LinearSem, estimate: _Judged, sample: Sample, options: Options) -> None:
        assert learned.choices is not None
        assert learned.search is not None
        assert learned.refinement is not None
        self.learned, self.sem, self.options = learned, sem, options
        modelled = learned.modelled(estimate)
        assert isinstance(modelled, _Judged)
        self.estimate = modelled
        layer = None if learned.measurement is None else learned.measurement.layer
        #: What hidden causes and errors of measurement add to the correlations.
        self.layer = None if layer is None or layer.is_empty else layer.covariance
        self.choices, self.search, self.penalty = learned.choices, learned.search, learned.refinement.penalty
        self.draws: Draws = draws_of(sample, estimate, options.seed)
        #: The model whose residuals show shapes: of what was measured, without a measurement layer.
        self.observed = learned.observed or learned
        rows = None if isinstance(sample, GivenTheta) or "shape" not in options.orient else sample.shape_rows
        #: Rows that show the shape of residuals, if that counted.
        self.rows = rows if _has_shapes(self.observed) else None
        #: The same, if they counted in the score of this graph.
        self.scored_rows = rows if _has_shapes(learned) else None
        self.shapes: ShapeEvidence | None = None
        self.may_be_oriented = np.zeros(sem.B.nnz, dtype=bool)
        if self.rows is not None:
            causes, effects = edge_ends(sem.B)
            self.shapes = ShapeEvidence.of(self.rows, estimate.location, self.observed.sem.B, options.n_threads)
            is_seen = entries_at(self.observed.sem.B, causes, effects) != 0
            self.may_be_oriented = is_seen & self.shapes.may_orient(causes, effects)

    def judge(self) -> Claimed:
        """Ask the resamples, claim what they agree on, and search again if the graph contradicts that."""
        polled = self._poll()
        proposals = undisputed(self._proposed(rule, votes) for rule, votes in polled.items())
        known = self._known()
        rules = consistent(proposals, known)
        learned = self._agreeing(rules)
        B = learned.sem.B
        causes, effects = edge_ends(B)
        names = np.array(["open", *(proposal.rule for proposal in proposals)], dtype="<U9")
        rests_on = names[entries_at(rules, causes, effects).astype(int)]
        if learned.knowledge is not None:
            rests_on[~learned.knowledge.allows(effects, causes)] = "knowledge"
            for votes in polled.values():
                rests_on[following(B, rests_on != "open", votes.joined / votes.resamples)] = "knowledge"
        evidence = replace(EdgeEvidence.unknown(B.nnz), direction=rests_on, **self._shares(polled, B, rests_on))
        record = ClaimRecord(
            {rule: votes.resamples for rule, votes in polled.items()},
            how=self._how(),
            dependence=None if self.shapes is None else self.shapes.median,
            disputed=sum(one.opposes(other) for k, one in enumerate(proposals) for other in proposals[:k]),
            unconstrained_score=self.learned.refinement.score if self.learned.refinement else None,
        )
        return with_evidence(learned, evidence, record)

    def _poll(self) -> dict[str, Votes]:
        """Return the votes by each kind of evidence, the one that oriented the graph last."""
        polled: dict[str, Votes] = {}
        # Where equal noise variances are beyond doubt, the class has nothing to add, and its resamples cost the most.
        if "class" in self.options.orient and not self.choices.noise.is_beyond_doubt:
            polled["compelled"] = self._votes(Voting(self._class_order(), self.penalty))
        if self.choices.noise.chosen != "unequal" and "variance" in self.options.orient:
            if self._is_noise_believed():
                voting = Voting(self.sem.order, self.penalty, noise_variances=self._supposed_variances())
                polled["variance"] = self._votes(voting)
        elif self.shapes is not None and self.may_be_oriented.any():
            polled["shape"] = self._shape_votes()
        return polled

    def _is_noise_believed(self) -> bool:
        """Tell whether noise variances were said to be equal or known, or are equal with nine in ten probability.

        Resamples cannot tell: where the columns happen to have nearly the same variances, noise variances look equal in
        all of them, along a wrong order too.
        """
        supposed = self.options.noise == "equal" or self.options.known_variances(len(self.sem.order)) is not None
        return supposed or self.choices.noise.is_favoured(NINE_IN_TEN / (1.0 - NINE_IN_TEN))

    def _proposed(self, rule: str, votes: Votes) -> Proposal:
        """Return the directions that one kind of evidence proposes."""
        joined = sp.csr_array(self.sem.B.astype(bool).astype(np.float64))
        # Directions are claimed of edges that the graph has, not of others that only resamples have.
        proposal = stable(rule, votes).only(sp.csr_array(joined + joined.T))
        if rule == "compelled":
            return proposal
        # The graph was found by shapes or variances. Where their resamples reverse it, neither is to be believed.
        causes, effects = edge_ends(self.sem.B)
        if rule == "shape":
            causes, effects = causes[self.may_be_oriented], effects[self.may_be_oriented]
        return proposal.only(sp.csr_array((np.ones(len(causes)), (causes, effects)), shape=self.sem.B.shape))

    def _class_order(self) -> NDArray[np.intp]:
        """Return the order of the best graph with Gaussian residuals of unequal variance."""
        if self.scored_rows is None and self.choices.noise.chosen == "unequal":
            return self.sem.order
        start = {"search": self.sem.order}
        return self.search.run(start, penalty=self.penalty, effort=self.search.effort).sem.order

    def _shape_votes(self) -> Votes:
        """Ask graphs with shapes, of what was measured: hidden causes and errors that matter are seen in residuals."""
        observed, rows = self.observed, self.rows
        assert isinstance(observed.sem, LinearSem)
        assert observed.choices is not None
        assert observed.choices.residuals is not None
        assert observed.refinement is not None
        assert observed.search is not None
        assert rows is not None
        searcher = observed.search.searcher
        assert isinstance(searcher, _core.Searcher)
        voting = Voting(observed.sem.order, observed.refinement.penalty, shape=observed.choices.residuals.shape)
        # Halves of the rows without replacement vary about the whole as much as all rows with replacement, which take
        # twice as long.
        draws = RowDraws(rows, replace(self.draws.resampling_of_rows(rows), subsample=0.5))
        asked = self.options.stability
        usual = _FEW_RESAMPLES if len(voting.order) <= _MANY_VARIABLES else _FEWEST_RESAMPLES
        return poll(searcher, draws, voting, asked if isinstance(asked, int) else usual)

    def _votes(self, voting: Voting) -> Votes:
        voting = replace(voting, removed=self.layer)
        searcher, d = self.search.searcher, len(voting.order)
        assert isinstance(searcher, _core.Searcher | _core.BlockSearcher)
        asked, draws = self.options.stability, self.draws
        if isinstance(asked, int):
            return poll(searcher, draws, voting, asked)
        has_shapes = self.shapes is not None and bool(self.may_be_oriented.any())
        is_brief = d > (_FEW_VARIABLES if has_shapes else _MANY_VARIABLES) or self.choices.noise.is_beyond_doubt
        few = _FEWEST_RESAMPLES if has_shapes and d > _MANY_VARIABLES else _FEW_RESAMPLES
        votes = poll(searcher, draws, voting, few if is_brief else _RESAMPLES)
        while not is_brief and d <= _FEW_VARIABLES and votes.resamples < _MOST_RESAMPLES:
            # Two standard deviations of a share near nine in ten.
            close = 2.0 * np.sqrt(NINE_IN_TEN * (1.0 - NINE_IN_TEN) / votes.resamples)
            if np.all(np.abs(votes.directed.data / votes.resamples - NINE_IN_TEN) >= close):
                break
            votes += poll(searcher, draws, voting, votes.resamples + _RESAMPLES, votes.resamples)
        return votes

    def _how(self) -> str:
        """Say how rows were drawn."""
        if not isinstance(self.draws, RowDraws):
            return "second moments"
        resampling = self.draws.resampling
        if resampling.member is not None:
            return "groups"
        return "rows" if resampling.block == 1 else f"blocks of {resampling.block} rows"

    def _known(self) -> Csr:
        """Return the directions that background knowledge gives, as a pattern."""
        knowledge, B = self.learned.knowledge, self.sem.B
        if knowledge is None:
            return sp.csr_array(B.shape)
        causes, effects = edge_ends(B)
        kept = ~knowledge.allows(effects, causes)
        return sp.csr_array((np.ones(int(kept.sum())), (causes[kept], effects[kept])), shape=B.shape)

    def _agreeing(self, rules: Csr) -> Learned:
        """Return the best graph that has the claimed directions."""
        claimed = sp.coo_array(rules)
        missing = entries_at(self.sem.B, claimed.row, claimed.col) == 0
        if not missing.any() or self.options.threshold > 0:
            return self.learned
        required = np.column_stack([claimed.row, claimed.col]).astype(np.int64)
        knowledge = _joined(self.learned.searched_under, required, len(self.sem.order))
        search = self.search.of(self.estimate.searcher(knowledge, self.options.n_threads))
        noise = self.choices.noise.chosen
        found = search.run(
            {"search": knowledge.arrange(self.sem.order)},
            penalty=self.penalty,
            values=None if self.scored_rows is None else standardised(self.scored_rows, self.estimate),
            noise_variances=None if noise == "unequal" else self._supposed_variances(),
            effort=search.effort,
        )
        assert self.learned.refinement is not None
        refinement: Refinement = replace(self.learned.refinement, score=found.score)
        learned = replace(self.learned, sem=found.sem, refinement=refinement)
        return learned.in_units(self.estimate, self.options.n_threads)

    def _supposed_variances(self) -> NDArray[np.float64]:
        known = self.options.known_variances(len(self.sem.order))
        return np.full(len(self.sem.order), self.sem.noise_variances.mean()) if known is None else known

    def _shares(self, polled: dict[str, Votes], B: Csr, rests_on: NDArray[np.str_]) -> dict[str, NDArray[np.float64]]:
        """Return the share of resamples that have each direction, and that join the two variables."""
        causes, effects = edge_ends(B)
        stability, joined = np.full(B.nnz, np.nan), np.full(B.nnz, np.nan)
        # With a measurement layer, the class is that of the graph, and shapes are those of the graph without the layer.
        last_is_own = self.learned.observed is None
        for rule, votes in polled.items() if last_is_own else reversed(polled.items()):
            share = entries_at(votes.directed, causes, effects) / votes.resamples
            # An open direction has the share by the evidence that oriented the graph.
            is_own = (rests_on == rule) | ~np.isin(rests_on, list(polled))
            stability = np.where(is_own, share, stability)
            joined = entries_at(votes.joined, causes, effects) / votes.resamples
        return {"stability": stability, "joined": joined, "margin": self._margins(B)}

    def _margins(self, B: Csr) -> NDArray[np.float64]:
        """Return the score that the best graph with an edge reversed loses; NaN where it is not known."""
        margins = self.search.reversal_margins(penalty=self.penalty, is_shaped=self.scored_rows is not None)
        if margins is None:
            return np.full(B.nnz, np.nan)
        is_known = sp.csr_array((np.ones(margins.nnz), margins.indices, margins.indptr), shape=B.shape)
        known, found = (entries_at(matrix, *edge_ends(B)) for matrix in (is_known, margins))
        # Infinite where background knowledge leaves no graph with the edge reversed.
        return np.where((known > 0) & np.isfinite(found), found, np.nan)


def _has_shapes(learned: Learned) -> bool:
    """Tell whether the shape of residuals counted in the score of a graph."""
    residuals = None if learned.choices is None else learned.choices.residuals
    return residuals is not None and residuals.counts


def with_evidence(learned: Learned, evidence: EdgeEvidence, record: ClaimRecord) -> Claimed:
    """Put claims together with the class that they leave.

    Examples
    --------
    >>> from icid_rs import ICID, datasets
    >>> model = ICID(noise="unequal").fit(datasets.sample_sem([[0, 0.8], [0, 0]], 500, random_state=0))
    >>> model.graph_.evidence_.direction, model.cpdag_.nnz
    (array(['open'], dtype='<U9'), 2)
    """
    sem = learned.sem
    if isinstance(sem, LinearSem):
        causes, effects = edge_ends(sem.B)
        is_claimed = evidence.direction != "open"
        cpdag = with_directions(sem.B, causes[is_claimed], effects[is_claimed])
        expected: Any = class_of(sem, learned.knowledge)
        is_class = (cpdag.astype(bool) != expected.astype(bool)).nnz == 0
        learned, record = replace(learned, cpdag=cpdag), replace(record, is_class=is_class)
    names, counts = np.unique(evidence.direction, return_counts=True)
    counted = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return Claimed(learned, evidence, replace(record, directions=counted))


def _joined(knowledge: Knowledge | None, required: NDArray[np.int64], d: int) -> Knowledge:
    """Add required edges to what is known."""
    knowledge = Knowledge.nothing(d) if knowledge is None else knowledge
    return replace(knowledge, required=np.unique(np.concatenate([knowledge.required, required]), axis=0))
