"""The same contender with another number of alphas or lambdas."""

from types import SimpleNamespace


def with_count(module, count, what):
    """What `NAME@COUNT` stands for: the module's model, built for so many of what it chooses among."""
    parts = {name: getattr(module, name) for name in ("NEEDS", "found") if hasattr(module, name)}
    return SimpleNamespace(
        TITLE=f"{module.TITLE}, {count} {what}",
        GIVEN=f"the same with {count} {what}",
        build=lambda task: module.build(task, int(count)),
        **parts,
    )
