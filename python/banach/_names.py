"""Monomials in words. A monomial is a tuple of pairs (variable, exponent)."""

from __future__ import annotations

from collections.abc import Sequence

Monomial = tuple[tuple[int, int], ...]


def variable(names: Sequence[str] | None, j: int) -> str:
    return str(names[j]) if names is not None else f"x{j}"


def monomial(factors: Monomial, names: Sequence[str] | None) -> str:
    """Such as ``age * dose^2``."""
    parts = (variable(names, j) + (f"^{power}" if power > 1 else "") for j, power in factors)
    return " * ".join(parts) or "1"


def counted(number: int, one: str, many: str) -> str:
    """Such as ``1 row`` and ``1,000 rows``."""
    return f"{number:,} {one if number == 1 else many}"


def of_target(y: object) -> str | None:
    """The name of a series or column of targets, if it has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None
