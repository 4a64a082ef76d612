"""The side of the one who asks: a process of its own for every contender, which is idle while another is measured."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

THREADS = 2
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")


class Contender:
    """One worker. After a failure it is ended and answers nothing more."""

    def __init__(self, kind, problem, name, quick, threads=THREADS):
        here = Path(__file__).resolve().parents[1]
        path = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(VARIABLES, str(threads))}
        mode = "quick" if quick else "full"
        command = [sys.executable, "-W", "ignore", "-m", "users.worker", kind, problem, name, mode]
        self.name = name
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.rest = b""

    def hello(self):
        """Who it is, or what it lacks."""
        return self.read(120.0)

    def ask(self, request, limit):
        """The answer, or what went wrong."""
        if self.process is None:
            return None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.read(limit)
        if "failed" in answer:
            self.end()
        return answer

    def read(self, limit):
        end, pipe = time.monotonic() + limit, self.process.stdout
        while b"\n" not in self.rest:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return {"failed": f"more than {limit:.0f} s"}
            part = os.read(pipe.fileno(), 1 << 16)
            if not part:
                spent = self.process.wait() == -signal.SIGXCPU
                return {"failed": "more processor time than is allowed" if spent else "the process ended"}
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
