"""Pictures of models, in scikit-learn's Display convention: ``from_estimator`` computes, ``plot`` draws.

They need matplotlib, ``pip install 'banach[plot]'``. After drawing, ``ax_`` and ``figure_`` are what was drawn on. Without
axes to draw on, a picture makes a figure that is large enough for what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _names, _outputs, _parameters
from ._names import Monomial
from ._path import LpPath
from ._table import Table

# The colours of Okabe and Ito without yellow and black: told apart by colour-blind readers, and in print.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", ":", "-.")
_POSITIVE, _NEGATIVE, _MARK, _OTHERS = _COLORS[0], _COLORS[1], "#555555", "#c8c8c8"
#: Longer names are cut in the middle.
_LABEL, _PRODUCT = 36, 46
#: More lines than these have no names of their own.
_LINES = 12


class _Display:
    """Figure and axes, and what all pictures share of their looks."""

    def _axes(self, ax: Any, *, bars: int = 0, names: Sequence[str] = ()) -> Any:
        """The axes to draw on; a new figure has room for so many bars, and for these names beside them."""
        self._own = ax is None
        if ax is not None:
            return ax
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'banach[plot]', or pip install matplotlib") from error
        height = min(max(1.1 + 0.3 * bars, 2.0), 16.0) if bars else 4.2
        width = 6.0 + 0.075 * max((len(name) for name in names), default=0)
        return plt.subplots(figsize=(width, height), layout="constrained")[1]

    def _drawn(self, ax: Any, *, grid: str = "both", title: str = "") -> Any:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis=grid, color="#e4e4e4", linewidth=0.6)
        ax.set_axisbelow(True)
        if title:
            ax.set_title(_cut(title, 64), fontsize="medium", loc="left", parse_math=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bars(self, ax: Any, labels: Sequence[str]) -> np.ndarray:
        """The places of horizontal bars, with their names; the first is on top."""
        places = np.arange(len(labels))
        # Names are taken as they are: a dollar sign begins no formula.
        ax.set_yticks(places, labels=labels, parse_math=False)
        ax.tick_params(axis="y", length=0)
        margin = 0.9 if len(labels) < 3 else 0.6
        ax.set_ylim(len(labels) - 1 + margin, -margin)
        return places

    def _legend(self, ax: Any, **kwargs: Any) -> None:
        """Beside the axes where there is room for it, else within them."""
        many = len(ax.get_legend_handles_labels()[0])
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if self._own and many > 3 else {"loc": "best"}
        legend = ax.legend(**{"fontsize": "small", "frameon": False, "handlelength": 2.4, **place, **kwargs})
        for text in legend.get_texts():
            text.set_parse_math(False)


def _empty(ax: Any, why: str) -> None:
    ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center", color=_MARK)
    ax.set_axis_off()


def _cut(text: str, length: int) -> str:
    """The beginning and the end of what is too long."""
    if len(text) <= length:
        return text
    end = (length - 1) // 3
    return text[: length - 1 - end].rstrip() + "…" + text[-end:].lstrip()


def _product(factors: Sequence[tuple[str, str]]) -> str:
    """Names and their exponents as a product for a picture. Where it is too long, the longest names are cut."""
    room = _LABEL if len(factors) < 2 else _PRODUCT - 3 * (len(factors) - 1)
    left = len(factors)
    limits = {}
    for at in sorted(range(len(factors)), key=lambda at: len("".join(factors[at]))):
        name, exponent = factors[at]
        limits[at] = min(len(name), max(room // left - len(exponent), 6))
        room, left = room - limits[at] - len(exponent), left - 1
    return " × ".join(_cut(name, limits[at]) + exponent for at, (name, exponent) in enumerate(factors)) or "1"


def _label(factors: Monomial, names: Sequence[str] | None) -> str:
    """A monomial for a picture."""
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return _product(
        [(_names.variable(names, j), str(power).translate(raised) if power > 1 else "") for j, power in factors]
    )


def _about(estimator: Any, output: Any) -> str:
    """Which function a picture is about, if there are several or it tells classes apart."""
    classes, functions = getattr(estimator, "classes_", None), len(estimator._model.relative_gaps)
    if classes is not None and functions == 1:
        return f"{classes[1]} (weights above 0) against {classes[0]}"
    if functions == 1:
        return ""
    name = _outputs.name(estimator, _outputs.place(estimator, output, functions), functions)
    return name if classes is None else f"{name} against the rest"


def _line(at: int) -> dict[str, Any]:
    """Colour and dashes of a line: no two of the first 24 share both."""
    return {"color": _COLORS[at % len(_COLORS)], "linestyle": _STYLES[at // len(_COLORS) % len(_STYLES)]}


def _mark(ax: Any, C: float, height: float | None = None) -> None:
    """A line at the C that was chosen, with its value in the corner where there is room: a curve has this height there."""
    ax.axvline(C, color=_MARK, linestyle=(0, (4, 3)), linewidth=0.9, zorder=1.5)
    low = ax.get_ylim()[0]
    right, up = ax.transAxes.inverted().transform(ax.transData.transform((C, low if height is None else height))) > 0.5
    top = height is not None and not up
    offset = (-4 if right else 4, -3 if top else 3)
    place = {"ha": "right" if right else "left", "va": "top" if top else "bottom", "xytext": offset}
    looks = {
        "fontsize": "small",
        "color": _MARK,
        "bbox": {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1},
    }
    where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate(f"C = {C:.3g}", (C, float(top)), **where, **place, **looks)


class FeaturesDisplay(_Display):
    """The largest monomials as bars. There are no error bars: what other samples would give is for
    :func:`banach.stability_selection` to say."""

    def __init__(
        self,
        *,
        names: Sequence[str],
        weights: np.ndarray,
        title: str = "",
    ) -> None:
        self.names, self.weights, self.title = names, weights, title

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, k: int = 10, output: int | str = 0, ax: Any = None, **kwargs: Any
    ) -> FeaturesDisplay:
        """The k largest monomials of a fitted estimator."""
        top = estimator.top_features(k, output=output)
        names = [_label(factors, estimator._names()) for factors in top["exponents"]]
        display = cls(names=names, weights=top["weight"], title=_about(estimator, output))
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> FeaturesDisplay:
        """Draws; keywords go to ``ax.barh``."""
        ax = self._axes(ax, bars=max(len(self.names), 1), names=self.names)
        if len(self.names) == 0:
            _empty(ax, "no monomial has a weight other than 0")
            return self._drawn(ax, title=self.title)
        places = self._bars(ax, self.names)
        colors = [_POSITIVE if weight >= 0 else _NEGATIVE for weight in self.weights]
        ax.barh(places, self.weights, **{"color": colors, "height": 0.7, **kwargs})
        ax.axvline(0, color=_MARK, linewidth=0.8)
        ax.set_xlabel("weight")
        return self._drawn(ax, grid="x", title=self.title)


class RelevanceDisplay(_Display):
    """How much every variable matters, as bars."""

    def __init__(
        self, *, names: Sequence[str], shares: np.ndarray, others: int = 0, largest_other: float = 0.0, title: str = ""
    ) -> None:
        self.names, self.shares, self.others, self.largest_other, self.title = (
            names,
            shares,
            others,
            largest_other,
            title,
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, k: int = 20, output: int | str = 0, ax: Any = None, **kwargs: Any
    ) -> RelevanceDisplay:
        """The k variables of a fitted estimator that matter most."""
        k = _parameters.whole("k", k, "a whole number >= 1", least=1)
        found = estimator.relevance(output=output)
        names, shares = found["variable"], found["share"]
        rest = shares[k:]
        display = cls(
            names=[_product([(name, "")]) for name in names[:k]],
            shares=shares[:k],
            others=len(rest),
            largest_other=float(rest.max(initial=0.0)),
            title=_about(estimator, output).replace(" (weights above 0)", ""),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> RelevanceDisplay:
        """Draws; keywords go to ``ax.barh``."""
        ax = self._axes(ax, bars=max(len(self.names), 1), names=self.names)
        if len(self.names) == 0:
            _empty(ax, "no variables")
            return self._drawn(ax, title=self.title)
        ax.barh(self._bars(ax, self.names), self.shares, **{"color": _POSITIVE, "height": 0.7, **kwargs})
        ax.set_xlim(left=0)
        ax.set_xlabel(r"share of $\|w\|_p^p$ on monomials with this variable")
        if self.others:
            rest = f"{self.others} other variable{'s' * (self.others > 1)}: at most {self.largest_other:.2g} each"
            # The bars are sorted, so this corner is free.
            ax.text(1, 0.02, rest, transform=ax.transAxes, ha="right", va="bottom", fontsize="small", color=_MARK)
        return self._drawn(ax, grid="x", title=self.title)


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
        labels = [_outputs.name(estimator, fit, len(estimator._model.relative_gaps)) for fit in fits]
        passes = [np.array([record[2] for record in own]) for own in records]
        gaps = [np.array([record[5] for record in own]) for own in records]
        return cls(passes=passes, gaps=gaps, tol=estimator.tol, labels=labels).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> ConvergenceDisplay:
        """Draws; keywords go to ``ax.semilogy``."""
        ax = self._axes(ax, names=self.labels)
        from matplotlib.ticker import LogLocator, MaxNLocator

        if not any(len(gaps) for gaps in self.gaps):
            _empty(ax, "no iterations")
            return self._drawn(ax)
        positive = [gaps[gaps > 0].min(initial=1.0) for gaps in self.gaps]
        # A gap of 0 has no place on a logarithmic axis; it is drawn at its lower end.
        floor = 0.1 * min([*positive, *([self.tol] if self.tol > 0 else [])])
        for at, (passes, gaps, label) in enumerate(zip(self.passes, self.gaps, self.labels, strict=True)):
            looks = {**_line(at), "marker": "osD^v"[at % 5], "markersize": 4, "label": _cut(label, 24)}
            ax.semilogy(passes, np.maximum(gaps, floor), **{**looks, **kwargs})
        if self.tol > 0:
            ax.axhline(self.tol, color=_MARK, linestyle=(0, (4, 3)), linewidth=0.9)
            # The curves fall from the left, so the left of this line is free.
            told = {"xytext": (3, 3), "textcoords": "offset points", "fontsize": "small", "color": _MARK}
            ax.annotate(f"tol = {self.tol:g}", (0, self.tol), xycoords=("axes fraction", "data"), **told)
        ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
        ax.yaxis.set_major_locator(LogLocator(numticks=9))
        ax.set_xlabel("passes over the data")
        ax.set_ylabel("relative duality gap")
        if 1 < len(self.labels) <= 2 * _LINES:
            self._legend(ax)
        return self._drawn(ax)


class PathDisplay(_Display):
    """The weights of the largest features, or the dual vector where features are not listed, against C."""

    def __init__(
        self, *, path: LpPath, names: Sequence[str], places: np.ndarray, C: float | None = None, title: str = ""
    ) -> None:
        self.path, self.names, self.places, self.C, self.title = path, names, places, C, title

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, Cs: Any = 30, k: int = 10, output: int | str = 0, ax: Any = None, **kwargs: Any
    ) -> PathDisplay:
        """The path of a fitted estimator on its own samples; the k largest weights of the estimator have names."""
        check_is_fitted(estimator, "_model")
        given, count = _parameters.grid(Cs)
        k, functions = _parameters.whole("k", k, "a whole number >= 1", least=1), len(estimator._model.relative_gaps)
        place = _outputs.place(estimator, output, functions)
        with estimator._bar("path", (count or len(given or ())) * functions) as bar:
            path = LpPath.of(estimator._model.path(given, count, bar.callback)[place])
        places, names = cls._named(estimator, path, k, place)
        C = getattr(estimator, "C_", getattr(estimator, "C", None))
        return cls(path=path, names=names, places=places, C=C, title=_about(estimator, output)).plot(ax=ax, **kwargs)

    @staticmethod
    def _named(estimator: Any, path: LpPath, k: int, output: int) -> tuple[np.ndarray, list[str]]:
        if path.coefs is None:
            places = np.argsort(-np.abs(path.dual_coefs[-1]), kind="stable")[:k]
            return places, [f"sample {i}" for i in places]
        weights = np.atleast_2d(estimator.coef_)[output]
        places = np.argsort(-np.abs(weights), kind="stable")[:k]
        if len(weights) == estimator.n_features_in_:
            return places, [_names.variable(estimator._names(), j) for j in places]
        # The features are monomials, listed in an order of their own; the search tells which the largest are.
        top = estimator.top_features(max(len(places), 1), output=output)
        if len(top["weight"]) != len(places) or not np.allclose(top["weight"], weights[places], rtol=1e-6, atol=0):
            return places, [f"feature {j}" for j in places]
        return places, [_label(factors, estimator._names()) for factors in top["exponents"]]

    def plot(self, *, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Draws; keywords go to ``ax.semilogx``."""
        ax = self._axes(ax, names=self.names)
        lines = self.path.dual_coefs if self.path.coefs is None else self.path.coefs
        others = np.setdiff1d(np.arange(lines.shape[1]), self.places)
        # The tallest of the others tell how far they reach; thousands of lines would tell no more.
        tallest = others[np.argsort(-np.abs(lines[:, others]).max(axis=0, initial=0.0), kind="stable")[:200]]
        if len(tallest):
            ax.semilogx(self.path.Cs, lines[:, tallest], color=_OTHERS, linewidth=0.6, zorder=1)
        # Names in the order in which the lines end.
        order = sorted(range(len(self.places)), key=lambda at: -lines[-1, self.places[at]])
        for at in order:
            looks = {**_line(at), "label": _cut(self.names[at], _PRODUCT), "linewidth": 1.8, "zorder": 2}
            ax.semilogx(self.path.Cs, lines[:, self.places[at]], **{**looks, **kwargs})
        if self.C is not None:
            _mark(ax, self.C)
        ax.set_xlabel("C")
        ax.set_ylabel("dual coefficient" if self.path.coefs is None else "weight")
        if order:
            self._legend(ax)
        return self._drawn(ax, title=self.title)


class CVDisplay(_Display):
    """Held-out loss or scores against C, one line for every other choice; a band of one standard error around the best."""

    def __init__(
        self, *, curves: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]], C: float, score: str, best: int = 0
    ) -> None:
        self.curves, self.C, self.score, self.best = curves, C, score, best

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> CVDisplay:
        """The search of a fitted CV estimator."""
        check_is_fitted(estimator, "cv_results_")
        results = estimator.cv_results_
        params = results["params"]
        others = [{name: value for name, value in param.items() if name != "C"} for param in params]
        named = dict.fromkeys(name for other in others for name in other)
        varied = [name for name in named if len({str(other.get(name)) for other in others}) > 1]
        curves: dict[str, list[int]] = {}
        for at, other in enumerate(others):
            label = ", ".join(f"{name} = {_short(other[name])}" for name in varied if name in other)
            curves.setdefault(label, []).append(at)
        error = np.nan_to_num(results["standard_error_test_score"])
        # Without a scorer the search maximises minus the loss; the loss is what people read.
        sign = -1.0 if estimator.scoring is None else 1.0
        lines: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]] = []
        best = 0
        for label, places in curves.items():
            if estimator.best_index_ in places:
                best = len(lines)
            places = sorted(places, key=lambda at: params[at]["C"])
            Cs = np.array([params[at]["C"] for at in places])
            lines.append((label, Cs, sign * results["mean_test_score"][places], error[places]))
        score = estimator.scoring if isinstance(estimator.scoring, str) else "score"
        score = "held-out loss" if estimator.scoring is None else f"held-out {score}"
        return cls(curves=lines, C=estimator.C_, score=score, best=best).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> CVDisplay:
        """Draws; keywords go to ``ax.semilogx``."""
        ax = self._axes(ax, names=[label for label, *_ in self.curves])
        named = len(self.curves) <= _LINES
        for at, (label, Cs, mean, _) in enumerate(self.curves):
            if at == self.best:
                continue
            looks = {**_line(at), "label": label} if named else {"color": _OTHERS}
            ax.semilogx(Cs, mean, **{**looks, "linewidth": 1.2, **kwargs})
        label, Cs, mean, error = self.curves[self.best]
        looks = {
            **_line(self.best if named else 0),
            "label": f"{label} (best)",
            "linewidth": 2.2,
            "marker": "o",
            "markersize": 4,
        }
        (line,) = ax.semilogx(Cs, mean, **{**looks, **kwargs})
        ax.fill_between(Cs, mean - error, mean + error, color=line.get_color(), alpha=0.2, linewidth=0)
        self._heights(ax, mean, error)
        _mark(ax, self.C, float(mean[np.argmin(np.abs(Cs - self.C))]))
        ax.set_xlabel("C")
        ax.set_ylabel(self.score)
        if len(self.curves) > 1:
            if not named:
                ax.plot([], [], color=_OTHERS, label=f"{len(self.curves) - 1} other choices")
            self._legend(ax)
        return self._drawn(ax)

    @staticmethod
    def _heights(ax: Any, mean: np.ndarray, error: np.ndarray) -> None:
        """Shows the best line in full and what of the others is near it; losses of many sizes by their logarithms."""
        known = np.isfinite(mean)
        low, high = (mean - error)[known].min(), (mean + error)[known].max()
        if mean[known].min() > 0 and mean[known].max() > 20 * mean[known].min():
            ax.set_yscale("log")
            low = max(low, 0.5 * mean[known].min())
            ax.set_ylim(max(ax.get_ylim()[0], low / 1.5), min(ax.get_ylim()[1], 1.5 * high))
        elif high > low:
            ax.set_ylim(
                max(ax.get_ylim()[0], low - 0.5 * (high - low)), min(ax.get_ylim()[1], high + 0.5 * (high - low))
            )


class StabilityDisplay(_Display):
    """How often monomials are among the largest of fits to random halves of the samples."""

    def __init__(self, *, names: Sequence[str], frequencies: np.ndarray, threshold: float, title: str = "") -> None:
        self.names, self.frequencies, self.threshold, self.title = names, frequencies, threshold, title

    @classmethod
    def from_table(cls, table: Table, *, k: int = 15, ax: Any = None, **kwargs: Any) -> StabilityDisplay:
        """The k most frequent monomials of what :func:`banach.stability_selection` returns."""
        title = ""
        if table.expected_false is not None:
            stable = int(np.sum(table["stable"]))
            title = f"{stable} stable, at most {table.expected_false:.2g} expected to be so by chance"
        display = cls(
            names=[_label(factors, table.feature_names) for factors in table["exponents"][:k]],
            frequencies=np.asarray(table["frequency"][:k]),
            threshold=table.threshold,
            title=title,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> StabilityDisplay:
        """Draws; keywords go to ``ax.barh``."""
        ax = self._axes(ax, bars=max(len(self.names), 1), names=self.names)
        if len(self.names) == 0:
            _empty(ax, "no monomial was selected")
            return self._drawn(ax, title=self.title)
        colors = [_POSITIVE if frequency >= self.threshold else _OTHERS for frequency in self.frequencies]
        ax.barh(self._bars(ax, self.names), self.frequencies, **{"color": colors, "height": 0.7, **kwargs})
        ax.axvline(self.threshold, color=_MARK, linestyle=(0, (4, 3)), linewidth=0.9)
        ax.set_xlim(0, 1)
        ax.set_xlabel(f"share of the fits that select it; stable from {self.threshold:g}")
        return self._drawn(ax, grid="x", title=self.title)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
