"""A process that measures one contender: told what by its arguments, when by lines of JSON, and answers by such lines."""

import importlib
import importlib.util
import json
import os
import sys

from . import contenders


def main():
    kind, problem, contender, quick = sys.argv[1:5]
    answers = os.fdopen(os.dup(1), "w")
    # What libraries print is not an answer.
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        subject = contenders.load(kind, contender)
        missing = [name for name in subject.NEEDS if importlib.util.find_spec(name) is None]
    except ModuleNotFoundError as error:
        missing = [error.name]
    if missing:
        return answer({"missing": missing})
    answer({"title": subject.TITLE, "given": subject.GIVEN})

    measurement = None
    for line in sys.stdin:
        try:
            if measurement is None:
                measure = importlib.import_module(f"users.{kind}.measure")
                measurement = measure.Measurement(problem, contender, quick == "quick")
            request = json.loads(line)
            answer({} if request == "prepare" else measurement.measure(request["seed"]))
        except Exception as error:
            answer({"failed": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"})


if __name__ == "__main__":
    main()
