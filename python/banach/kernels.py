"""Tensor kernels: which monomials a model is made of, and how they are weighted.

The names of the ``kernel`` parameter cover most needs; these objects say the rest::

    LpRegressor(kernel=kernels.Exponential(scale=0.1, degrees=(1, 4)))
    LpRegressor(kernel=kernels.PowerSeries([0.0, 1.0, 0.5, 0.1]))
    LpRegressor(kernel=kernels.Normalized(kernels.Anova(1, 3)))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _core, _parameters

__all__ = ["Anova", "Exponential", "Kernel", "Linear", "Normalized", "Polynomial", "PowerSeries", "Series"]


class Kernel(ABC):
    """A tensor kernel ``K(x_1, ..., x_q) = sum_k c_k z^k`` with ``z_j = x_1j ... x_qj`` and ``c_k >= 0``."""

    @abstractmethod
    def build(self) -> _core.Kernel:
        """The compiled kernel; raises ``ValueError`` for parameters out of range."""

    @property
    def degrees_(self) -> tuple[int, int | None]:
        """The lowest degree of its monomials, and the highest if there is one."""
        return self.build().degrees

    def cardinality(self, n_features: int) -> int | None:
        """The number of its monomials in so many variables; ``None`` for infinitely many."""
        return self.build().cardinality(n_features)


@dataclass(frozen=True)
class Linear(Kernel):
    """``t``: the variables themselves."""

    def build(self) -> _core.Kernel:
        return _core.Kernel.choose("linear")


@dataclass(frozen=True)
class Polynomial(Kernel):
    """``(coef0 + scale t)^degree``, or for a pair the degrees from one to the other: all monomials, with powers.

    With a pair a ``coef0`` of 0, which would leave a single degree, stands for 1.
    """

    degree: int | tuple[int, int] = 2
    scale: float = 1.0
    coef0: float = 0.0

    def build(self) -> _core.Kernel:
        scale, coef0 = _parameters.real("scale", self.scale), _parameters.real("coef0", self.coef0)
        return named("poly", _parameters.degree(self.degree), coef0, scale, False)


@dataclass(frozen=True)
class Anova(Kernel):
    """Products of ``min_degree`` to ``max_degree`` different variables, without powers."""

    min_degree: int = 1
    max_degree: int = 2

    def build(self) -> _core.Kernel:
        least, most = _parameters.whole("min_degree", self.min_degree), _parameters.whole("max_degree", self.max_degree)
        return _core.Kernel.choose("anova", degree=(least, most))


@dataclass(frozen=True)
class Exponential(Kernel):
    """``exp(scale t)``, or a range of its degrees: all monomials, those of higher degree with less weight."""

    scale: float = 1.0
    degrees: tuple[int, int] | None = None

    def build(self) -> _core.Kernel:
        degrees = None if self.degrees is None else _parameters.degree(self.degrees)
        return _core.Kernel.choose("exp", degree=degrees, scale=_parameters.real("scale", self.scale))


@dataclass(frozen=True)
class PowerSeries(Kernel):
    """``sum_s coefficients[s] (scale t)^s``, with coefficients that are not negative."""

    coefficients: Sequence[float]
    scale: float = 1.0

    def build(self) -> _core.Kernel:
        coefficients = _parameters.reals("coefficients", self.coefficients, "a list of numbers >= 0")
        return _core.Kernel.power_series(coefficients, _parameters.real("scale", self.scale))


@dataclass(frozen=True)
class Series(Kernel):
    """A function by name: ``geometric`` 1/(1-t), ``log`` -log(1-t), ``cosh``, ``sinh`` or ``bessel_i0``, at ``scale t``."""

    name: str
    scale: float = 1.0

    def build(self) -> _core.Kernel:
        allowed = "geometric, log, cosh, sinh or bessel_i0"
        return _core.Kernel.series(_parameters.text("name", self.name, allowed), _parameters.real("scale", self.scale))


@dataclass(frozen=True)
class Normalized(Kernel):
    """Another kernel with the features of every sample divided by their norm."""

    kernel: Kernel

    def build(self) -> _core.Kernel:
        if not isinstance(self.kernel, Kernel):
            raise _parameters.refused(
                "kernel", self.kernel, "an object of banach.kernels, such as kernels.Exponential()"
            )
        return self.kernel.build().normalized()


def chosen(kernel: object, *, degree: object, coef0: object, scale: object, normalize: object) -> _core.Kernel:
    """The kernel that an estimator was told of, by its name or as an object."""
    normalize = _parameters.boolean("normalize_kernel", normalize)
    if isinstance(kernel, Kernel):
        built = kernel.build()
        return built.normalized() if normalize else built
    name = _parameters.text("kernel", kernel, "linear, poly, anova, exp or an object of banach.kernels")
    coef0, scale = _parameters.real("coef0", coef0), _parameters.real("scale", scale)
    return named(name, _parameters.degree(degree), coef0, scale, normalize)


def named(name: str, degree: int | tuple[int, int] | None, coef0: float, scale: float, normalize: bool) -> _core.Kernel:
    """The kernel of a name. As with scikit-learn's kernels, each takes the parameters that it has and ignores the others.

    One ``degree`` belongs to poly and anova; a range of them cuts exp as well; None stands for 1 to 2, and for all of exp. A ``coef0`` of 0 would leave a single
    degree of a range, so there it stands for 1.
    """
    parameters: dict[str, Any] = {}
    is_range = degree is None or isinstance(degree, tuple)
    if degree is not None and (name in ("poly", "anova") or (name == "exp" and is_range)):
        parameters["degree"] = degree
    if name in ("poly", "exp"):
        parameters["scale"] = scale
    if name == "poly" and not (is_range and coef0 == 0.0):
        parameters["coef0"] = coef0
    return _core.Kernel.choose(name, normalize=normalize, **parameters)
