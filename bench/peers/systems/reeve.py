"""Reeve: by `reeve bench`, which starts the built program with its defaults and counts its journal afterwards."""
import json
import os
import re
import subprocess
import sys

import lab as labs
from lab import Agent, Failed, program
from peer import Measured, Peer, micros, rate

BINARY = os.environ.get("REEVE_BINARY") or os.path.join(labs.ROOT, "build", "release", "reeve")
BENCH_S = 600


def bench(folder, workload, plan, trace=None):
    """The lines of one round of `reeve bench`."""
    if not os.access(BINARY, os.X_OK):
        raise Failed(f"there is no {BINARY}: make build")
    argv = [BINARY, "bench", workload, "--json", "--rounds", "1", "--data", folder]
    # While syncs are counted it goes on for as long as it should: a few at start and end must not matter.
    if plan.quick and not (plan.is_counted and workload != "W5"):
        argv.append("--quick")
    if trace:
        argv = [program("strace"), "-f", "-y", "--seccomp-bpf", "-qq", "-e", "signal=none", "-e",
                "trace=" + ",".join(labs.SYNCS), "-o", trace, *argv]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=BENCH_S, check=False, preexec_fn=labs.die_with_us)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {BENCH_S} s") from None
    if done.returncode:
        raise Failed(done.stderr.strip() or f"exit code {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(line):
    return Measured(line["value"], line["operations"], line.get("shape", ""), line["floor"], line["target"],
                    line["syncs"] or None)


class Reeve(Peer):
    name = "Reeve"
    durable = "yes"
    sync = "every answer after the `fdatasync` of its batch"
    settings = "defaults; binary protocol, TCP, token"
    uncounted = frozenset({"W6"})  # thousands of traced processes take minutes; its own counter has to do
    order = 0
    renamed = {}

    def start(self):
        self.folder = self.lab.make("reeve")

    def version(self):
        return labs.said_by([BINARY, "version"])

    def run(self, plan):
        name = self.renamed.get(plan.workload.name, plan.workload.name)
        if not plan.is_counted:
            return [measured(line) for line in bench(self.folder, name, plan)]
        trace = os.path.join(self.folder, "trace")
        lines = bench(self.folder, name, plan, trace)
        with open(trace, encoding="utf-8", errors="replace") as f:
            # The floors sync files of their own, beside the folder of the server.
            text = "".join(line for line in f if re.search(r"</[^>]*/(data|worker\d*)/", line))
        got = [measured(line) for line in lines]
        got[0].traced = labs.syncs_in(text)
        return got

    submit = round_trip = drain = processes = fan = chain = restart = run


class ReeveHttp(Reeve):
    name = "Reeve by HTTP"
    settings = "defaults; `POST /api/v1/flows` with a flow file in JSON, no payload"
    only = {"W2"}
    order = 1
    renamed = {"W2": "W13"}


class ReevePython(Peer):
    """Functions of Python through a warm worker of the SDK, as Celery and Dask do them."""
    name = "Reeve, Python functions"
    durable = "yes"
    sync = Reeve.sync
    settings = "one worker process of the Python SDK"
    order = 2

    def start(self):
        self.folder = self.lab.make("reeve-python")
        data = os.path.join(self.folder, "data")
        server = self.lab.spawn([BINARY, "serve", "--data", data, "--listen", "127.0.0.1:0"], self.folder)
        def ready():
            if not server.is_alive():
                raise Failed("the server ended: " + server.last_words())
            with open(server.log, encoding="utf-8", errors="replace") as f:
                return " ready " in f.read()
        labs.until(ready, "the server")
        tests = os.path.join(labs.ROOT, "sdk", "python", "tests")
        paths = os.pathsep.join([os.path.join(labs.ROOT, "sdk", "python", "src"), tests])
        env = {"PYTHONPATH": paths, "REEVE_DATA": data}
        self.worker = self.lab.spawn([sys.executable, "-m", "reeve.worker", "tasks:noop", "--threads", "1"], self.folder,
                                     server=False, env=dict(os.environ, **env))
        self.agent = Agent(self.lab, [sys.executable, os.path.join(labs.HERE, "agents", "reeve_agent.py")], self.folder, env)
        self.agent.ask("warm")

    def version(self):
        return labs.said_by([BINARY, "version"])

    def round_trip(self, plan):
        return micros(plan.count, self.agent.ask("round_trip", count=plan.count)["seconds"])

    def drain(self, plan):
        return rate(plan.count, self.agent.ask("drain", count=plan.count)["seconds"])
