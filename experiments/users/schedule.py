"""Who is measured when: rounds outside, contenders inside, so that what disturbs the machine disturbs all of them."""

import os
import time

from . import machine
from .contender import THREADS, Contender
from .modelling import tasks
from .solving import problems

LIMIT = 300.0
#: The waiting threads of whoever was measured last spin for a while before they sleep.
SETTLE = 0.15
#: A solver that takes longer has one round.
SLOW = 5.0


def plan(quick):
    """(kind, problem, contenders, seeds): the seeds are the draws of data, or so many rounds of the same."""
    recipes = problems.QUICK if quick else problems.RECIPES
    for name, recipe in recipes.items():
        yield "solving", name, recipe, recipe.contenders, [0] * recipe.rounds
    for name, task in (tasks.QUICK if quick else tasks.TASKS).items():
        yield "modelling", name, task, task.contenders, task.seeds()


def run(quick, only, among, log):
    """All measurements, one after another, as one object that can be written to a file; of these contenders, if any are named."""
    groups = []
    for kind, name, subject, names, seeds in plan(quick):
        if only and not {kind, name, f"{kind}/{name}"} & set(only):
            continue
        names = [contender for contender in names if not among or contender in among]
        began, load = time.monotonic(), os.getloadavg()[0]
        measured = group(kind, name, subject, names, seeds, quick, log)
        minutes = (time.monotonic() - began) / 60.0
        groups.append({**measured, "minutes": minutes, "loads": [load, os.getloadavg()[0]]})
    return {"machine": machine.describe(), "quick": quick, "groups": groups}


def is_complete(results):
    """Whether there are figures of everything that is planned; the page is not written from fewer."""
    measured = {(group["kind"], group["name"]) for group in results["groups"]}
    return measured >= {(kind, name) for kind, name, *_ in plan(results["quick"])}


def merged(old, new):
    """The old figures with the groups of the new ones in their places."""
    fresh = {(group["kind"], group["name"]): group for group in new["groups"]}
    groups = [fresh.pop((group["kind"], group["name"]), group) for group in old["groups"]]
    return {**new, "groups": [*groups, *fresh.values()]}


def group(kind, name, subject, names, seeds, quick, log):
    """One problem."""
    threads = getattr(subject, "threads", THREADS)
    contenders = {contender: Contender(kind, name, contender, quick, threads) for contender in names}
    # All begin at once, and are then measured in turns.
    results = {contender: {**one.hello(), "runs": []} for contender, one in contenders.items()}
    try:
        for contender, one in contenders.items():
            if "missing" in results[contender] or "failed" in results[contender]:
                one.end()
                continue
            prepared = one.ask("prepare", 2 * LIMIT)
            if "failed" in prepared:
                results[contender]["failed"] = prepared["failed"]
                log(f"{kind} {name}: {contender} failed, {prepared['failed']}")
        for seed in seeds:
            for contender, one in contenders.items():
                if kind == "solving" and any(run["seconds"] > SLOW for run in results[contender]["runs"]):
                    continue
                time.sleep(SETTLE)
                answer = one.ask({"seed": seed}, LIMIT)
                if answer is None:
                    continue
                if "failed" in answer:
                    results[contender]["failed"] = answer["failed"]
                else:
                    results[contender]["runs"].append({"seed": seed, **answer})
                log(f"{kind} {name} {seed}: {contender} {shown(answer)}")
    finally:
        for one in contenders.values():
            one.end()
    told = {key: getattr(subject, key) for key in ("about", "tolerance") if hasattr(subject, key)}
    return {"kind": kind, "name": name, "title": subject.title, **told, "contenders": results}


def shown(answer):
    keys = ("failed", "seconds", "relative_gap", "error", "true_of_largest", "selected", "settings")
    return ", ".join(f"{key} {answer[key]}" for key in keys if key in answer)
