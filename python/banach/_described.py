"""What people ask of a fitted model with a penalty: its largest monomials, its relevant variables, equations, reports and pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core, _names, _outputs, _parameters
from ._base import TableEstimator
from ._equation import Equation, equation
from ._table import Table

#: What ends a search for the largest monomials.
_NODES = 5_000_000


class DescribedModel(TableEstimator):
    """What a fitted model tells of itself."""

    _model: _core.Model
    #: What held-out samples said in a search, as JSON.
    _validation: str | None = None
    #: How well it predicts them, as JSON.
    _assessment: str | None = None
    #: The means of columns that were standardised, what is missing to these beyond their digits, and the deviations.
    _scaling: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _place(self, output: Any) -> int:
        """The number of the function that is meant."""
        return _outputs.place(self, output, len(self._model.relative_gaps))

    def _units(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The means and deviations of columns that were standardised."""
        return None if self._scaling is None else (self._scaling[0], self._scaling[2])

    def top_features(
        self, k: int = 10, *, output: int | str = 0, seconds: float = np.inf, max_nodes: int = _NODES
    ) -> Table:
        """The monomials with the largest weights, by an exact search over all of them.

        Parameters
        ----------
        k : int
            How many.
        output : str or int
            Which function, of several outputs or classes: the name of the class or of the column of y, or its number.
        seconds : float
            When to stop a search that takes too long; the caption says what is then known. For a model from somebody
            else's file, say a number.
        max_nodes : int
            Monomials that the search may look at one by one before it stops in the same way.

        Returns
        -------
        Table
            Columns ``monomial``, ``exponents`` (pairs of a variable and its exponent), ``weight`` (of the feature),
            ``coefficient`` (of the plain product, of standardised columns with ``standardize=True``), ``share`` (of ``||w||_p^p``), and ``solver_lower`` and
            ``solver_upper``, between which the weight of the exact optimum lies where the loss allows to tell: the error of the
            solver, and nothing of chance. ``complete``, ``set_proven`` and ``order_proven`` tell whether that error can change
            the list or its order. A weight tells how this fit is built, at this C alone; :meth:`relevance` what its
            predictions depend on; only :func:`banach.stability_selection` what other samples would name again.
        """
        self._check_fitted()
        k = _parameters.whole("k", k, "a whole number >= 1", least=1)
        max_nodes = _parameters.whole("max_nodes", max_nodes, "a whole number >= 1", least=1)
        top = self._model.top(self._place(output), k, max_nodes, _parameters.real("seconds", seconds))
        monomials, names = top["monomials"], self._names()
        columns = {
            "monomial": [_names.monomial(factors, names) for factors in monomials],
            "exponents": monomials,
            "weight": top["weights"],
            "coefficient": top["coefficients"],
            "share": top["shares"],
            "solver_lower": top["lower"],
            "solver_upper": top["upper"],
        }
        if np.isnan(top["lower"]).all():
            del columns["solver_lower"], columns["solver_upper"]
        known = {key: top[key] for key in ("complete", "set_proven", "order_proven", "unlisted", "nodes")}
        return Table(columns, caption=_top_caption(top), **known)

    def leave_one_out(self) -> np.ndarray:
        """What the model without each sample predicts for it, with the same parameters, and without other fits.

        One Newton step from the fit serves all samples. For p = 2 and the squared loss it is exact; for p down to 1.1 the
        mean squared error is usually within a few per cent of that of fits without each sample; nearer to 1 it is a
        rough guess. Where C or p were chosen by the same samples, the predictions are a little better than the model is.

        Returns
        -------
        array
            Shaped as ``predict(X)`` of a regressor or ``decision_function(X)`` of a classifier, X the samples of the fit.
        """
        self._check_fitted()
        values = self._model.leave_one_out()
        if values is None:
            raise ValueError("there is nothing to tell for p = 1, or memory_limit is too low for these samples")
        return values[0] if getattr(self, "_single", len(values) == 1) else np.ascontiguousarray(values.T)

    def relevance(self, *, output: int | str = 0) -> Table:
        """How much every variable matters: the share of ``||w||_p^p`` on the monomials that involve it.

        Parameters
        ----------
        output : str or int
            Which function, of several outputs or classes: the name of the class or of the column of y, or its number.

        Returns
        -------
        Table
            Columns ``variable`` and ``share``, largest first. The attributes ``degrees`` (pairs of a degree and its
            share), ``order`` (the numbers of the variables) and ``error`` (what rounding may have done) tell the rest.
        """
        self._check_fitted()
        found = self._model.relevance(self._place(output))
        shares, names = found["variables"], self._names()
        order = np.argsort(-shares, kind="stable")
        columns = {"variable": [_names.variable(names, j) for j in order], "share": shares[order]}
        return Table(columns, degrees=found["degrees"], order=order, error=found["error"], norm=found["norm"])

    def pair_relevance(self, k: int = 10, *, output: int | str = 0) -> Table:
        """How much pairs of variables matter: the share of ``||w||_p^p`` on the monomials that involve both.

        Parameters
        ----------
        k : int
            Of the k variables that matter most, every pair.
        output : str or int
            Which function, of several outputs or classes: the name of the class or of the column of y, or its number.

        Returns
        -------
        Table
            Columns ``first``, ``second`` and ``share``, largest first.
        """
        self._check_fitted()
        k, output = _parameters.whole("k", k, "a whole number >= 2", least=2), self._place(output)
        variables = sorted(int(j) for j in self.relevance(output=output).order[:k])
        pairs, names = self._model.pair_shares(output, variables), self._names()
        columns = {
            "first": [_names.variable(names, i) for i, _, _ in pairs],
            "second": [_names.variable(names, j) for _, j, _ in pairs],
            "share": np.array([share for _, _, share in pairs]),
        }
        return Table(columns)

    def equation(
        self, k: int | None = None, *, output: int | str = 0, refit: bool = True, hierarchy: str | None = None
    ) -> Equation:
        """The few terms of the kernel that can be named, as a formula.

        They are those that the evidence of all samples names, as :class:`SparseRegressor` does: least squares for the
        squared loss, the logistic loss for classes, and nothing is shrunk. Where nothing can be named at this number of
        samples, the equation is a constant and a warning says so; the model predicts all the same.

        Parameters
        ----------
        k : int or None
            The most terms; a third of the samples if None, and never more.
        output : str or int
            Which function, of several outputs or classes: the name of the class or of the column of y, or its number.
        refit : bool
            If False, the k largest monomials of the model (5 if None) with the coefficients that they have in it, which
            are those of a sum of many; ``bound`` says what the others add at most. For every loss.
        hierarchy : {"weak", "strong"} or None
            With ``refit``, a product only with one of its factors, or with all of them.

        Returns
        -------
        Equation
            ``str(equation)``, ``equation.latex()``, ``equation.to_dict()``, ``equation.to_pipeline()`` (scikit-learn
            only, works without banach) and ``equation.predict(X)``.
        """
        self._check_fitted()
        return equation(self, k, output=self._place(output), refit=refit, hierarchy=hierarchy)

    def report(
        self,
        k: int = 10,
        *,
        relevance: bool = True,
        select: int | None = None,
        stability: int | None = None,
        hierarchy: str | None = None,
        random_state: int = 0,
    ) -> dict[str, Any]:
        """All that is known of the model, as data: what ``banach fit --json`` prints of a model, under the same keys.

        Parameters
        ----------
        k : int
            So many of the largest monomials.
        relevance : bool
            How much every variable matters.
        select : int, optional
            The terms that can be named, at most so many, as an equation.
        stability : int, optional
            Which terms, at most so many, are named in most halves of the samples.
        hierarchy : {"weak", "strong"} or None
            Of these terms, products only with one of their factors, or with all of them.
        random_state : int
            Of the halves.

        Returns
        -------
        dict
            ``model``, ``route``, ``validation`` (of a search by its own score, else None), ``leave_one_out`` (a score, or
            None), ``status``, ``functions`` and ``notes``. A table that cannot be made is None, and a note says why. What the command says of
            the units of columns is None without ``standardize=True``: X is what it is.
        """
        self._check_fitted()
        variables = self._names() or [f"x{j}" for j in range(self.n_features_in_)]
        classes = getattr(self, "classes_", None)
        target = getattr(self, "_target", None) or "y"
        names: Any = {"variables": variables, "target": target, "classes": None, "scaling": self._units()}
        if classes is not None:
            names["classes"] = [str(label) for label in classes]
        with self._bar("report", 1) as bar:
            text = _core.report(
                self._model,
                names,
                _parameters.whole("k", k),
                _parameters.boolean("relevance", relevance),
                None if select is None else _parameters.whole("select", select, "None or a whole number >= 1", least=1),
                None
                if stability is None
                else _parameters.whole("stability", stability, "None or a whole number >= 1", least=1),
                _parameters.hierarchy(hierarchy),
                # Where C was chosen, others could have been.
                self._validation is not None,
                _parameters.whole("random_state", random_state),
                bar.callback,
            )
        report = json.loads(text)
        if self._validation is not None:
            report["validation"] = json.loads(self._validation)
            assessed = json.loads(self._assessment or "null")
            if assessed is not None:
                # In words it is verdict_.
                del assessed["verdict"]
                if assessed["classes"] is not None:
                    assessed["classes"]["labels"] = names["classes"]
            report["assessment"] = assessed
            report["notes"] = report["validation"].pop("notes") + report["notes"]
        return report

    def explain(self, k: int = 10) -> str:
        """A page of text: the fit and its certificate, the route and why it was taken, how long it was expected to take and
        took, the largest monomials and the variables that matter."""
        self._check_fitted()
        time = f"Expected to take {self._model.expected}, and took {self._model.seconds:.3g} s."
        parts = [str(self._model), self._model.plan, time]
        for output in range(len(self._model.relative_gaps)):
            title = self._output_title(output)
            parts.append(f"{title}\n{self.top_features(k, output=output)}")
            try:
                relevance = self.relevance(output=output)
            except (ValueError, MemoryError) as error:
                parts.append(f"No relevance of variables: {error}")
                continue
            shown = {name: column[:k] for name, column in relevance.items()}
            by_degree = ", ".join(f"{degree}: {share:.3g}" for degree, share in relevance.degrees[:8])
            parts.append(f"{Table(shown)}\nBy degree: {by_degree}")
        return "\n\n".join(parts)

    def save(self, path: Any) -> None:
        """Writes the fitted model to a file, for :func:`banach.load` and the ``banach`` command; of a search, the model
        that it chose."""
        from ._files import save

        save(self, path)

    def _output_title(self, output: int) -> str:
        return (
            "The largest monomials"
            if len(self._model.relative_gaps) == 1
            else f"The largest monomials of {_outputs.name(self, output, len(self._model.relative_gaps))}"
        )

    def plot_features(self, k: int = 10, *, output: int | str = 0, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the largest monomials; see :class:`banach.FeaturesDisplay`."""
        from ._display import FeaturesDisplay

        return FeaturesDisplay.from_estimator(self, k=k, output=output, ax=ax, **kwargs)

    def plot_relevance(self, k: int = 20, *, output: int | str = 0, ax: Any = None, **kwargs: Any) -> Any:
        """Draws how much the variables matter; see :class:`banach.RelevanceDisplay`."""
        from ._display import RelevanceDisplay

        return RelevanceDisplay.from_estimator(self, k=k, output=output, ax=ax, **kwargs)

    def plot_convergence(self, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the duality gap of every iteration; see :class:`banach.ConvergenceDisplay`."""
        from ._display import ConvergenceDisplay

        return ConvergenceDisplay.from_estimator(self, ax=ax, **kwargs)

    def plot_path(self, Cs: Any = 30, *, k: int = 10, output: int | str = 0, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the largest weights against C; see :class:`banach.PathDisplay`."""
        from ._display import PathDisplay

        return PathDisplay.from_estimator(self, Cs=Cs, k=k, output=output, ax=ax, **kwargs)


def _top_caption(top: Mapping[str, Any]) -> str:
    if top["complete"] and not top["monomials"]:
        return "No monomial has a weight: the model is its constant."
    if top["order_proven"]:
        return "The solver's error cannot change this list or its order; it says nothing of chance."
    if top["set_proven"]:
        return "The solver's error cannot change this list, but may change its order; it says nothing of chance."
    if top["complete"]:
        return "The largest of this model."
    return (
        f"The search was stopped after {_names.counted(top['nodes'], 'monomial', 'monomials')}: others may have weights up to {top['unlisted']:.4g}. "
        "Raise seconds or max_nodes to search on."
    )
