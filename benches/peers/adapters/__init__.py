"""One file for each package: how it is installed and called, with which settings.

Modules here import their packages only when a method is made, so that the runner can list them all.
"""

from benches.peers.adapters import causal_learn, causaldisco, dagma, flop, gcastle, ges, icid, lingam, tetrad
from benches.peers.adapters.base import Method

#: All methods by name, ours first; the page keeps this order.
METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        icid.Icid,
        icid.Elimination,
        flop.Flop,
        tetrad.Boss,
        tetrad.Fges,
        causal_learn.Boss,
        causal_learn.Ges,
        ges.Ges,
        causal_learn.Pc,
        causaldisco.VarSort,
        causaldisco.R2Sort,
        lingam.Direct,
        lingam.Ica,
        dagma.Dagma,
        gcastle.Notears,
        gcastle.Golem,
    )
}
