"""Who is measured when: one method on one set after another, each in a process of its own."""

from ..contender import Contender
from . import real, store
from .packages import NotServedError
from .sets import METHODS, OURS, REAL, SETS

#: Seconds to wait for one fit on a machine that others use as well; what counts is the time of the processor.
PATIENCE = 3600.0


def plan(only_sets=(), only_methods=()):
    """(set, method): all of them, or those that are named; `ours` are all of ours, `peers` all others.

    A method is on all sets before the next, and trees are last: the picture is there long before the run is over.
    """
    for method in METHODS:
        side = "ours" if method in OURS else "peers"
        if only_methods and not {method, side} & set(only_methods):
            continue
        for name, task in SETS.items():
            if method in task.contenders and (not only_sets or name in only_sets):
                yield name, method


def measured(name, method, seeds, log, before=None, keep=lambda figures: None):
    """The figures of a method on a set, with those that were known before; `keep` is called after every split."""
    figures = dict(before or {})
    runs = {int(seed): run for seed, run in figures.get("runs", {}).items()}
    left = [seed for seed in seeds if seed not in runs]
    if not left or "failed" in figures:
        return figures
    contender = Contender("suite", name, method, False, threads=1)
    try:
        figures = {**contender.hello(), "runs": runs}
        if "missing" in figures:
            keep(figures)
        if "title" not in figures:
            # It may be there the next time.
            return figures
        for seed in left:
            answer = contender.ask({"seed": seed}, PATIENCE)
            log(f"{name} {method} {seed}: {shown(answer)}")
            if "failed" in answer:
                figures["failed"] = answer["failed"]
                keep(figures)
                break
            runs[seed] = answer
            keep(figures)
    finally:
        contender.end()
    return figures


def run(folder, pairs, again, log):
    """Measures what is not measured yet, or everything again; sets whose packages are not served are left out."""
    for name, method in available(pairs, log):
        before = {} if again else store.read(folder, name, method)
        measured(
            name,
            method,
            SETS[name].seeds(),
            log,
            before,
            lambda figures, name=name, method=method: store.write(folder, name, method, figures),
        )


def available(pairs, log):
    """Those whose data are there, after they have been downloaded."""
    absent = set()
    for name in dict.fromkeys(name for name, _ in pairs if name in REAL):
        try:
            real.prepare(name)
        except NotServedError as error:
            absent.add(name)
            log(f"{name}: {error}")
    return [(name, method) for name, method in pairs if name not in absent]


def shown(answer):
    keys = ("failed", "wrong", "log_loss", "square", "variance", "processor")
    return ", ".join(
        f"{key} {answer[key] if isinstance(answer[key], str) else format(answer[key], '.4g')}"
        for key in keys
        if key in answer
    )
