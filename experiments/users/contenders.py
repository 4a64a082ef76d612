"""Contenders by name: a module of `solving` or `modelling`, or, as `NAME@OPTION`, what its `with_option` makes of OPTION."""

from importlib import import_module

#: The suite has the models of `modelling`.
FOLDERS = {"suite": "modelling"}


def load(kind, contender):
    name, _, option = contender.partition("@")
    module = import_module(f"{__package__}.{FOLDERS.get(kind, kind)}.{name}")
    return module.with_option(option) if option else module
