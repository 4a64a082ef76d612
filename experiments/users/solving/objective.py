"""The problem that all solvers get, and the one function that judges them.

    F(w)          = gamma sum_i L(y_i, <x_i, w>) + (1/p) ||w||_p^p,        to be minimised over w
    Lambda(alpha) = (1/q) ||X' alpha||_q^q + gamma sum_i L*(y_i, -alpha_i/gamma)

-Lambda(alpha) <= F(w) for all w and alpha, so F(w) + Lambda(alpha) bounds how far F(w) is from its minimum.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy


class Squared:
    """L(y, t) = (y - t)^2/2."""

    name = "squared"
    smoothness = 1.0

    @staticmethod
    def value(y, t):
        return 0.5 * np.sum((y - t) ** 2)

    @staticmethod
    def alpha(y, t):
        """Minus the slope of the loss, for gamma = 1."""
        return y - t

    @staticmethod
    def conjugate(y, alpha):
        return 0.5 * alpha @ alpha - y @ alpha

    @staticmethod
    def conjugate_slope(y, alpha):
        return alpha - y

    @staticmethod
    def reach(y, alpha):
        """The largest multiple of alpha that is worth a look."""
        return 2.0


class Logistic:
    """L(y, t) = log(1 + exp(-y t)) for labels y = -1, 1."""

    name = "logistic"
    smoothness = 0.25

    @staticmethod
    def value(y, t):
        return np.sum(np.logaddexp(0.0, -y * t))

    @staticmethod
    def alpha(y, t):
        return y * expit(-y * t)

    @staticmethod
    def conjugate(y, alpha):
        c = np.clip(y * alpha, 0.0, 1.0)
        return np.sum(xlogy(c, c) + xlogy(1.0 - c, 1.0 - c))

    @staticmethod
    def conjugate_slope(y, alpha):
        c = y * alpha
        return y * (np.log(c) - np.log1p(-c))

    @staticmethod
    def reach(y, alpha):
        return 1.0 / max(np.max(y * alpha), 1e-300)


@dataclass(frozen=True)
class Problem:
    """One problem; X in Fortran's order, which is how banach reads it. Others may copy it to what suits them."""

    X: np.ndarray
    y: np.ndarray
    p: float
    gamma: float
    loss: type

    @property
    def q(self):
        q = self.p / (self.p - 1.0)
        return float(round(q)) if abs(q - round(q)) < 1e-9 else q

    def primal(self, w, t):
        """F(w), given t = X w."""
        return self.gamma * self.loss.value(self.y, t) + np.sum(np.abs(w) ** self.p) / self.p

    def dual(self, alpha, u):
        """Lambda(alpha), given u = X' alpha."""
        return np.sum(np.abs(u) ** self.q) / self.q + self.gamma * self.loss.conjugate(self.y, alpha / self.gamma)

    def alpha(self, t):
        """The dual vector that belongs to predictions."""
        return self.gamma * self.loss.alpha(self.y, t)

    def best_multiple(self, alpha, u):
        """The smallest Lambda(s alpha) over s > 0: near the optimum s = 1, before that a much better bound."""
        power = np.sum(np.abs(u) ** self.q) / self.q
        ratio = alpha / self.gamma

        def value(s):
            return s**self.q * power + self.gamma * self.loss.conjugate(self.y, s * ratio)

        low, high, golden = 0.0, self.loss.reach(self.y, ratio), 0.5 * (5**0.5 - 1.0)
        for _ in range(60):
            a, b = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, b) if value(a) < value(b) else (a, high)
        return min(value(1.0), value(0.5 * (low + high)))

    def relative_gap(self, primal, dual):
        """The gap as a part of the objective, which is how banach states it."""
        return (primal + dual) / max(abs(primal), abs(dual), 1e-300)


@dataclass(frozen=True)
class Verdict:
    """What an answer is worth."""

    objective: float
    relative_gap: float


def judge(problem, w, alpha=None):
    """The objective of w and its gap, by the better of the bounds that its residuals and the given alpha prove."""
    t = problem.X @ w
    primal = problem.primal(w, t)
    residual = problem.alpha(t)
    bounds = [problem.best_multiple(residual, problem.X.T @ residual)]
    if alpha is not None:
        bounds.append(problem.dual(alpha, problem.X.T @ alpha))
    return Verdict(float(primal), float(problem.relative_gap(primal, min(bounds))))
