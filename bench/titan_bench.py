"""How fast jobs by Titan's protocol run: what Titan itself was measured with (a trivial shell script as single jobs, as a
flow, as a chain), beside what the machine can do at best.

    python3 bench/titan_bench.py [--rounds 5] [--jobs 200] [--chain 30] [--slots 4] [--build build/release] [--data DIR]

A server and a worker of the built program, with their defaults; a client as Titan's SDK, with a connection for each
request. The clock runs from the first submit until the client has heard that the last job is COMPLETED. The floor is bash
with the same script and environment, in a session of its own, both outputs read, a directory made and removed on the same
disk: as many at a time as the worker has slots, or for the chain one after the other. Floors and values take turns; what is
printed are medians.
Wrong results (a job that ran not at all, or twice, or another's script) end it with exit code 1; a missed target does not.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

import titan_client as titan  # noqa: E402

SCRIPT = "echo $1\n"
SECONDS = 120  # for anything
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}  # as jobs have it: bash reads locales


def job(name, parents=()):
    return titan.job(name, SCRIPT, args=name, parents=parents)


def statuses(names):
    """Of all of them, on one connection."""
    with titan.connect() as c:
        c.sendall(b"".join(titan.frame(titan.STATUS, "DAG-" + name) for name in names))
        return [titan.read_frame(c)[1].decode() for _ in names]


def wait_for(names):
    """The last one first: when it is over the others mostly are. Looking takes time from those who work."""
    end = time.monotonic() + SECONDS
    for some in (names[-1:], names):
        while any(status != "COMPLETED" for status in statuses(some)):
            assert time.monotonic() < end, "not all are COMPLETED: %r" % statuses(some)
            time.sleep(0.002)


def check(names):
    for name in names:  # each ran once, and its own
        assert titan.logs(name) == name, "%s said %r" % (name, titan.logs(name))


def names_of(count):
    word = uuid.uuid4().hex[:8]
    return ["%s-%d" % (word, i) for i in range(count)]


def singles(count):
    names = names_of(count)
    jobs = [job(name) for name in names]
    began = time.monotonic()
    for text in jobs:
        titan.submit(text)
    wait_for(names)
    took = time.monotonic() - began
    check(names)
    return count / took


def flow(count):
    """One, then all the others at once, then one that needs them."""
    names = names_of(count)
    middle = names[1:-1]
    jobs = [job(names[0])] + [job(n, [names[0]]) for n in middle] + [job(names[-1], middle)]
    began = time.monotonic()
    titan.submit(*jobs)
    wait_for(names[-1:])
    took = time.monotonic() - began
    check(names)
    return count / took


def chain(count):
    """Milliseconds from one to the next."""
    names = names_of(count)
    began = time.monotonic()
    titan.submit(*[job(n, names[i - 1:i] if i else []) for i, n in enumerate(names)])
    wait_for(names[-1:])
    took = time.monotonic() - began
    check(names)
    return took / count * 1000


class Lab:
    def __init__(self, options):
        self.build = os.path.abspath(options.build)
        self.dir = tempfile.mkdtemp(prefix="reeve-titan-bench-", dir=options.data)
        self.script = os.path.join(self.dir, "x.sh")
        with open(self.script, "w") as file:
            file.write(SCRIPT)
        self.processes = []
        data = os.path.join(self.dir, "data")
        port = titan.free_port()
        titan.HOST, titan.PORT, titan.DATA = "127.0.0.1", port, data
        self.start("serve", "--data", data, "--listen", "127.0.0.1:0", "--titan-listen", "127.0.0.1:%d" % port)
        titan.until(lambda: os.path.exists(os.path.join(data, "address")), True, SECONDS)
        self.start("worker", "--data", os.path.join(data, "w"), "--slots", str(options.slots))
        titan.until(lambda: len(titan.ports()), 1, SECONDS)

    def start(self, *arguments):
        env = dict(os.environ, REEVE_DATA=titan.DATA)
        self.processes.append(subprocess.Popen([os.path.join(self.build, "reeve"), *arguments], env=env,
                                               stderr=open(os.path.join(self.dir, "log"), "ab")))

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(SECONDS)
        shutil.rmtree(self.dir, ignore_errors=True)

    def floor(self, count, flight):
        command = [os.path.join(self.build, "spawn_bench"), str(count), str(flight), "/bin/bash", self.script, "name"]
        said = subprocess.run(command, env=dict(ENV, TMPDIR=self.dir), check=True, capture_output=True, text=True, timeout=SECONDS).stdout
        return float(said)


def report(name, unit, value, floor, ratio, target, met):
    print("%-8s %8.1f %-5s  floor %8.1f  ratio %5.2f  target %s  %s" % (name, value, unit, floor, ratio, target,
                                                                       "met" if met else "missed"))


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--jobs", type=int, default=200)
    words.add_argument("--chain", type=int, default=30)
    words.add_argument("--slots", type=int, default=4)
    words.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    words.add_argument("--data")
    options = words.parse_args()
    got = {name: [] for name in ("floor", "singles", "flow", "bare", "chain")}
    lab = Lab(options)
    try:
        singles(options.slots)  # warm
        for _ in range(options.rounds):
            got["floor"].append(lab.floor(options.jobs, options.slots))
            got["singles"].append(singles(options.jobs))
            got["floor"].append(lab.floor(options.jobs, options.slots))
            got["flow"].append(flow(options.jobs))
            got["bare"].append(1000 / lab.floor(options.chain, 1))
            got["chain"].append(chain(options.chain))
    finally:
        lab.close()
    m = {name: statistics.median(values) for name, values in got.items()}
    for name in ("singles", "flow"):
        ratio = m[name] / m["floor"]
        report(name, "/s", m[name], m["floor"], ratio, ">= 0.80", ratio >= 0.8)
    ratio = m["chain"] / m["bare"]
    report("chain", "ms", m["chain"], m["bare"], ratio, "<  1.50", ratio < 1.5)
    print("load %s, %d processors, %d slots, medians of %d" % (" ".join("%.1f" % x for x in os.getloadavg()), os.cpu_count(),
                                                             options.slots, options.rounds))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as wrong:
        sys.exit("wrong: %s" % wrong)
