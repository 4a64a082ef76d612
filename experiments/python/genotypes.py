"""Which variants are named where the truth is known: real genotypes, simulated traits.

    python experiments/python/genotypes.py PATH/susie_n2.npz

The archive has `X` (samples x variants), `y_all` (samples x traits) and `truth` (variants x traits, the coefficients), as the data set N2finemapping
of the R package susieR has them. Neighbouring variants are extremely alike: a term is right if it is a causal variant, or agrees with one perfectly.
Where it is neither, the table tells how much better the criterion is than with the causal variant that is most like it.
"""

import sys
import time
from math import log, log1p

import numpy as np

from banach import SparseRegressor

#: Columns whose correlation is nearer to 1 are the same column, written in single precision.
SAME = 1e-6
#: Traits with two causal variants. A search of up to a third of 574 samples takes minutes.
MOST_TERMS = 20


def criterion(X, y, terms):
    """The criterion of some columns, by its formula (docs/sparse.md)."""
    n, k = len(y), len(terms)
    columns = np.column_stack([np.ones(n), X[:, terms]])
    rest = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    unexplained = rest @ rest / np.sum((y - y.mean()) ** 2)
    g = max(((1.0 - unexplained) / k) / (unexplained / (n - 1 - k)) - 1.0, 0.0)
    names = sum(log(X.shape[1] - i) for i in range(k))
    return 2.0 * (names + log(k + 1) + log(20)) - (n - 1 - k) * log1p(g) + (n - 1) * log1p(g * unexplained)


def main(path):
    with np.load(path) as archive:
        X, traits, truth = (np.asarray(archive[name], float) for name in ("X", "y_all", "truth"))
    print("| trait | causal | named | the causal one most like it | correlation | worse with it instead | processor |")
    print("|---|---|---|---|---|---|---|")
    for trait in range(traits.shape[1]):
        y, causal = traits[:, trait], np.flatnonzero(truth[:, trait])
        began = time.process_time()
        model = SparseRegressor(max_terms=MOST_TERMS).fit(X, y)
        seconds = time.process_time() - began
        named = [monomial[0][0] for monomial in model.terms_["exponents"]]
        own = criterion(X, y, named) if named else 0.0
        assert abs(own - model.criterion_) < 1e-6 * max(1.0, abs(own))
        for place, j in enumerate(named):
            alike = np.abs(np.corrcoef(X[:, j], X[:, causal], rowvar=False)[0, 1:])
            best = causal[int(np.argmax(alike))]
            instead = criterion(X, y, [*named[:place], best, *named[place + 1 :]]) - own
            verdict = "the same" if alike.max() > 1.0 - SAME else f"{instead:.1f}"
            print(f"| {trait} | {causal.tolist()} | {j} | {best} | {alike.max():.4f} | {verdict} | {seconds:.2f} s |")
        print(
            f"trait {trait}: the criterion is {own:.1f}, that of the causal ones {criterion(X, y, causal):.1f}",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
