"""How many no-op functions per second go through one warm Python worker, durably.

    python3 bench/python_tasks.py [CALLS]

A server (the built program, data beside TMPDIR) and one worker process; the calls are submitted as one flow, and the clock
stops when it is over: every submit, assignment and result in between is synced to the log. The floors of the same run: the
same calls in a plain loop with their arguments and results through JSON, and the start of a Python interpreter, which is what a
job costs without a warm worker.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "sdk", "python", "tests"))

import lab  # noqa: E402
import reeve  # noqa: E402
import tasks  # noqa: E402


def loop_floor(count: int) -> float:
    began = time.perf_counter()
    for i in range(count):
        json.dumps(tasks.noop.function(*json.loads(json.dumps([i]))))
    return count / (time.perf_counter() - began)


def spawn_floor(count: int = 20) -> float:
    began = time.perf_counter()
    for _ in range(count):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    return count / (time.perf_counter() - began)


def cpu_seconds(pid: int) -> float:
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    data = tempfile.mkdtemp(prefix="reeve-bench-")
    env = dict(os.environ, PYTHONPATH=lab.SOURCE + os.pathsep + lab.TESTS, REEVE_DATA=data)
    server = lab.Process([lab.BINARY, "serve", "--data", data, "--listen", "127.0.0.1:0"], env)
    worker = None
    try:
        server.says(" ready ")
        worker = lab.Process([sys.executable, "-m", "reeve.worker", "tasks:noop", "--threads", "1"], env, lab.TESTS)
        worker.says("attached to")
        reeve.set_default_client(reeve.Client(data=data))
        tasks.noop.map(range(1000))[0].flow.wait()  # warm
        pids = {"server": server.process.pid, "worker": worker.process.pid, "submitter": os.getpid()}
        before = {name: cpu_seconds(pid) for name, pid in pids.items()}
        rates = []
        for _ in range(3):
            began = time.perf_counter()
            tasks.noop.map(range(count))[0].flow.wait()
            rates.append(count / (time.perf_counter() - began))
        used = ", ".join("%s %.0f" % (name, (cpu_seconds(pid) - before[name]) / 3 / count * 1e6) for name, pid in pids.items())
        latencies = []
        for i in range(200):
            began = time.perf_counter()
            tasks.noop.submit(i).result()
            latencies.append(time.perf_counter() - began)
        rate, loop, spawn = sorted(rates)[1], loop_floor(count), spawn_floor()
        print("functions through one warm worker   %8.0f /s   (of %s)" % (rate, ", ".join("%.0f" % one for one in rates)))
        print("processor time of a call, in us     %s" % used)
        print("one call, submit to result          %8.2f ms  (median of 200)" % (sorted(latencies)[100] * 1000))
        print("floor: the same calls in a loop     %8.0f /s   ratio %.3f" % (loop, rate / loop))
        print("floor: an interpreter per call      %8.0f /s   ratio %.0f" % (spawn, rate / spawn))
    finally:
        if worker is not None:
            worker.end()
        server.end()
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    main()
