"""`python -m users.p_one`: the Lasso over all products of two variables, ours over monomials that are never written out against celer on the
matrix of all of them.

Both minimise `sum_i C (y_i - t_i)^2/2 + ||w||_1` with an intercept over standardised monomials of degree 2, at the paper's Table 2's size, to a
relative duality gap of 1e-8. C is the smallest one with a nonzero model, divided by a share. One function judges both: the objective of w, and the bound of the
residuals, scaled until no monomial is violated. Everyone has a process of its own; its time begins with the variables, so celer's holds the
expansion; its memory is the peak on top of the packages and the variables.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from banach import LpRegressor, datasets

from . import memory
from .contender import THREADS, VARIABLES
from .modelling.found import pairs

GAP = 1e-8
#: Of the largest alpha: a handful of monomials, a dozen, some dozens.
SHARES = (0.7, 0.4, 0.2)
ROUNDS = 3
#: celer's tolerances, from which the loosest that reaches the gap is taken beforehand.
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)


def draw(quick, seed):
    samples, variables, true = (40, 12, 2) if quick else (90, 650, 6)
    X, y, _ = datasets.make_sparse_quadratic(samples, variables, true, random_state=seed)
    return np.asfortranarray(X), y


def expanded(X):
    """All products of two variables, standardised, feature by feature."""
    Z = PolynomialFeatures((2, 2), include_bias=False, order="F").fit_transform(X)
    return StandardScaler(copy=False).fit_transform(Z)


@dataclass(frozen=True)
class Judge:
    """The problem with all monomials written out."""

    Z: np.ndarray
    y: np.ndarray

    def smallest(self):
        """The C up to which the model is a constant."""
        return 1.0 / np.abs(self.Z.T @ (self.y - self.y.mean())).max()

    def verdict(self, w, C):
        """The objective of w, with the best intercept, and its relative duality gap over all monomials."""
        rest = self.y - self.Z @ w
        rest -= rest.mean()
        primal = 0.5 * C * rest @ rest + np.abs(w).sum()
        alpha = C * rest
        alpha *= min(1.0, 1.0 / np.abs(self.Z.T @ alpha).max())
        dual = alpha @ self.y - alpha @ alpha / (2.0 * C)
        return primal, (primal - dual) / primal


def ours(X, y, C, _):
    model = LpRegressor(1, C=C, kernel="poly", degree=2, monomials="standardized", tol=GAP, n_jobs=THREADS).fit(X, y)
    table = model.top_features(int(model.n_nonzero_))
    return list(zip(table["exponents"], table["weight"], strict=True))


def celer(X, y, C, tolerance):
    from celer import celer_path

    Z = expanded(X)
    alpha = 1.0 / (len(y) * C)
    w = celer_path(Z, y - y.mean(), "lasso", alphas=np.array([alpha]), tol=tolerance, max_iter=1000)[1][:, -1]
    first, second = pairs(X.shape[1])
    named = np.flatnonzero(w)
    return [
        (((int(i), 2),) if i == j else ((int(i), 1), (int(j), 1)), float(w[k]))
        for k, i, j in zip(named, first[named], second[named], strict=True)
    ]


CONTENDERS = {"ours": ours, "celer": celer}


def weights(terms, variables):
    """The weights of all monomials, in the order of the expansion."""
    w = np.zeros(variables * (variables + 1) // 2)
    for monomial, weight in terms:
        i, j = monomial[0][0], monomial[-1][0]
        w[i * variables - i * (i - 1) // 2 + j - i] = weight
    return w


def child(arguments):
    """One contender in a process of its own: fits, and a line of JSON."""
    X, y = draw(arguments.quick, arguments.seed)
    small = np.asfortranarray(X[:, :6])
    fit = CONTENDERS[arguments.child]
    # Nothing is loaded or compiled while it is timed.
    fit(small, y, 2.0 * Judge(expanded(small), y).smallest(), 1e-4)
    memory.forget_peak()
    before, best = memory.present(), (np.inf, np.inf)
    for _ in range(arguments.rounds):
        began, processor = time.perf_counter(), time.process_time()
        terms = fit(X, y, arguments.C, arguments.tolerance)
        best = min(best, (time.perf_counter() - began, time.process_time() - processor), key=lambda times: times[1])
    print(json.dumps({"terms": terms, "seconds": best[0], "processor": best[1], "bytes": memory.peak() - before}))


def asked(name, C, tolerance, arguments, rounds):
    """The answer of a contender."""
    command = [sys.executable, "-W", "ignore", "-m", "users.p_one", "--child", name, "--C", repr(float(C))]
    command += ["--tolerance", repr(tolerance), "--seed", str(arguments.seed), "--rounds", str(rounds)]
    environment = {**os.environ, **dict.fromkeys(VARIABLES, str(THREADS))}
    command += ["--quick"] if arguments.quick else []
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    answer["terms"] = [(tuple(map(tuple, monomial)), weight) for monomial, weight in answer["terms"]]
    return answer


def compare(arguments):
    X, y = draw(arguments.quick, arguments.seed)
    judge = Judge(expanded(X), y)
    print(f"n = {len(y)}, d = {X.shape[1]}, {judge.Z.shape[1]:,} monomials, seed {arguments.seed}, gap {GAP:g}\n")
    print(
        "| share of the largest alpha | solver | nonzero | objective | relative gap | seconds | processor | processor, ours = 1 | memory |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for share in SHARES:
        C = judge.smallest() / share

        def verdict(answer, C=C):
            return judge.verdict(weights(answer["terms"], X.shape[1]), C)

        for tolerance in TOLERANCES:
            if verdict(asked("celer", C, tolerance, arguments, 1))[1] <= GAP:
                break
        answers = {name: asked(name, C, tolerance, arguments, ROUNDS) for name in arguments.contenders}
        for name, answer in answers.items():
            objective, gap = verdict(answer)
            ratio = answer["processor"] / answers[next(iter(answers))]["processor"]
            title = f"celer, tol {tolerance:g}" if name == "celer" else "banach"
            print(
                f"| {share} | {title} | {len(answer['terms'])} | {objective:.12g} | {gap:.1e} | {answer['seconds']:.3g} | "
                f"{answer['processor']:.3g} | {ratio:.2g} | {answer['bytes'] / 1e6:.0f} MB |"
            )
        objectives = [verdict(answer)[0] for answer in answers.values()]
        print(f"  objectives differ by {max(objectives) / min(objectives) - 1:.1e}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(prog="users.p_one", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small size, in seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--child", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    parser.add_argument("--C", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--tolerance", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    (child if arguments.child else compare)(arguments)


if __name__ == "__main__":
    main()
