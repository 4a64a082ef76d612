"""Pictures of models, in scikit-learn's Display convention: ``from_estimator`` computes, ``plot`` draws.

They need matplotlib, ``pip install 'banach[plot]'``. After drawing, ``ax_`` and ``figure_`` are what was drawn on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _names, _parameters
from ._path import LpPath

_POSITIVE, _NEGATIVE, _MARK = "#3465a4", "#cc5500", "#777777"


def _axes(ax: Any) -> Any:
    """The axes to draw on."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'banach[plot]', or pip install matplotlib") from error
    return plt.subplots(layout="constrained")[1]


class _Display:
    def _drawn(self, ax: Any) -> Any:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class FeaturesDisplay(_Display):
    """The largest monomials as bars, with the intervals that are proven for their weights."""

    def __init__(self, *, names: list[str], weights: np.ndarray, lower: np.ndarray | None, upper: np.ndarray | None) -> None:
        self.names, self.weights, self.lower, self.upper = names, weights, lower, upper

    @classmethod
    def from_estimator(cls, estimator: Any, *, k: int = 10, output: int = 0, ax: Any = None, **kwargs: Any) -> FeaturesDisplay:
        """The k largest monomials of a fitted estimator."""
        top = estimator.top_features(k, output=output)
        display = cls(names=top["monomial"], weights=top["weight"], lower=top.get("lower"), upper=top.get("upper"))
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> FeaturesDisplay:
        """Draws; keywords go to ``ax.barh``."""
        ax = _axes(ax)
        places = np.arange(len(self.names))
        colors = [_POSITIVE if weight >= 0 else _NEGATIVE for weight in self.weights]
        errors = None
        if self.lower is not None and self.upper is not None:
            errors = np.maximum([self.weights - self.lower, self.upper - self.weights], 0)
        ax.barh(places, self.weights, **{"color": colors, "xerr": errors, "ecolor": _MARK, "height": 0.7, **kwargs})
        ax.set_yticks(places, labels=self.names)
        ax.invert_yaxis()
        ax.axvline(0, color=_MARK, linewidth=0.8)
        ax.set_xlabel("weight")
        return self._drawn(ax)


class RelevanceDisplay(_Display):
    """How much every variable matters, as bars."""

    def __init__(self, *, names: list[str], shares: np.ndarray, others: int) -> None:
        self.names, self.shares, self.others = names, shares, others

    @classmethod
    def from_estimator(cls, estimator: Any, *, k: int = 20, output: int = 0, ax: Any = None, **kwargs: Any) -> RelevanceDisplay:
        """The k variables of a fitted estimator that matter most."""
        found = estimator.relevance(output=output)
        names, shares = found["variable"], found["share"]
        return cls(names=names[:k], shares=shares[:k], others=max(len(names) - k, 0)).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> RelevanceDisplay:
        """Draws; keywords go to ``ax.barh``."""
        ax = _axes(ax)
        places = np.arange(len(self.names))
        ax.barh(places, self.shares, **{"color": _POSITIVE, "height": 0.7, **kwargs})
        ax.set_yticks(places, labels=self.names)
        ax.invert_yaxis()
        ax.set_xlabel(r"share of $\|w\|_p^p$ on monomials with this variable")
        if self.others:
            ax.set_title(f"{self.others} other variables matter less", fontsize="medium")
        return self._drawn(ax)


class ConvergenceDisplay(_Display):
    """The relative duality gap after every pass over the data."""

    def __init__(self, *, passes: list[np.ndarray], gaps: list[np.ndarray], tol: float, labels: list[str]) -> None:
        self.passes, self.gaps, self.tol, self.labels = passes, gaps, tol, labels

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> ConvergenceDisplay:
        """The fit of an estimator."""
        check_is_fitted(estimator, "_model")
        history = estimator._model.history
        fits = sorted({record[0] for record in history})
        records = [[record for record in history if record[0] == fit] for fit in fits]
        classes = getattr(estimator, "classes_", None)
        labels = [str(classes[fit]) if classes is not None and len(fits) > 1 else f"output {fit}" for fit in fits]
        passes = [np.array([record[2] for record in own]) for own in records]
        gaps = [np.array([record[5] for record in own]) for own in records]
        return cls(passes=passes, gaps=gaps, tol=estimator.tol, labels=labels).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> ConvergenceDisplay:
        """Draws; keywords go to ``ax.semilogy``."""
        ax = _axes(ax)
        least = min([self.tol, *(gaps[gaps > 0].min(initial=1.0) for gaps in self.gaps)])
        for passes, gaps, label in zip(self.passes, self.gaps, self.labels, strict=True):
            # A gap of 0 has no place on a logarithmic axis.
            shown = np.maximum(gaps, 0.1 * least) if least > 0 else gaps
            ax.semilogy(passes, shown, **{"marker": "o", "markersize": 4, "label": label, **kwargs})
        if self.tol > 0:
            ax.axhline(self.tol, color=_MARK, linestyle="--", linewidth=0.8, label="tol")
        ax.set_xlabel("passes over the data")
        ax.set_ylabel("relative duality gap")
        if len(self.labels) > 1:
            ax.legend()
        return self._drawn(ax)


class PathDisplay(_Display):
    """The weights of the largest features, or the dual vector where features are not listed, against C."""

    def __init__(self, *, path: LpPath, names: list[str], places: np.ndarray, C: float | None = None) -> None:
        self.path, self.names, self.places, self.C = path, names, places, C

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, Cs: Any = 30, k: int = 10, output: int = 0, ax: Any = None, **kwargs: Any
    ) -> PathDisplay:
        """The path of a fitted estimator on its own samples; the k largest weights of the last C have names."""
        check_is_fitted(estimator, "_model")
        given, count = _parameters.grid(Cs)
        with estimator._bar("path", count or len(given or ())) as bar:
            path = LpPath.of(estimator._model.path(given, count, bar.callback)[output])
        lines = path.dual_coefs if path.coefs is None else path.coefs
        places = np.argsort(-np.abs(lines[-1]), kind="stable")[:k]
        listed = path.coefs is not None and path.coefs.shape[1] == estimator.n_features_in_
        names = [_names.variable(estimator._names(), j) if listed else f"{j}" for j in places]
        C = getattr(estimator, "C_", getattr(estimator, "C", None))
        return cls(path=path, names=names, places=places, C=C).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws; keywords go to ``ax.semilogx``."""
        ax = _axes(ax)
        lines = self.path.dual_coefs if self.path.coefs is None else self.path.coefs
        others = np.setdiff1d(np.arange(lines.shape[1]), self.places)
        # The tallest of the others tell how far they reach; thousands of lines would tell no more.
        tallest = others[np.argsort(-np.abs(lines[:, others]).max(axis=0), kind="stable")[:200]]
        ax.semilogx(self.path.Cs, lines[:, tallest], color="#cccccc", linewidth=0.6, zorder=1)
        for name, place in zip(self.names, self.places, strict=True):
            ax.semilogx(self.path.Cs, lines[:, place], **{"label": name, "linewidth": 1.6, "zorder": 2, **kwargs})
        if self.C is not None:
            ax.axvline(self.C, color=_MARK, linestyle="--", linewidth=0.8)
        ax.set_xlabel("C")
        ax.set_ylabel("dual coefficient" if self.path.coefs is None else "weight")
        ax.legend(fontsize="small", loc="upper left")
        return self._drawn(ax)


class CVDisplay(_Display):
    """Held-out scores against C, one line for every other choice."""

    def __init__(self, *, curves: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]], C: float, score: str) -> None:
        self.curves, self.C, self.score = curves, C, score

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> CVDisplay:
        """The search of a fitted CV estimator."""
        check_is_fitted(estimator, "cv_results_")
        results = estimator.cv_results_
        params = results["params"]
        others = [{name: value for name, value in param.items() if name != "C"} for param in params]
        varied = [name for name in others[0] if len({str(other[name]) for other in others}) > 1]
        curves: dict[str, list[int]] = {}
        for at, other in enumerate(others):
            label = ", ".join(f"{name} = {_short(other[name])}" for name in varied)
            curves.setdefault(label, []).append(at)
        error = results["std_test_score"] / np.sqrt(max(estimator.n_splits_ - 1, 1))
        lines = []
        for label, places in curves.items():
            Cs = np.array([params[at]["C"] for at in places])
            lines.append((label, Cs, results["mean_test_score"][places], error[places]))
        score = estimator.scoring if isinstance(estimator.scoring, str) else "score"
        score = "minus held-out loss" if estimator.scoring is None else score
        return cls(curves=lines, C=estimator.C_, score=score).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> CVDisplay:
        """Draws; keywords go to ``ax.semilogx``."""
        ax = _axes(ax)
        for label, Cs, mean, error in self.curves:
            (line,) = ax.semilogx(Cs, mean, **{"marker": "o", "markersize": 3, "label": label or None, **kwargs})
            ax.fill_between(Cs, mean - error, mean + error, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.axvline(self.C, color=_MARK, linestyle="--", linewidth=0.8)
        ax.set_xlabel("C")
        ax.set_ylabel(self.score)
        if len(self.curves) > 1:
            ax.legend(fontsize="small")
        return self._drawn(ax)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
