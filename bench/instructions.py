#!/usr/bin/env python3
"""instructions.py PROGRAM [--record]: what a job costs the server, in instructions, against bench/instructions.json.

Seconds mean little on a machine that others use, too; instructions that callgrind counts are the same whatever else runs.
The server is the real one under valgrind, its worker the real one beside it. Three things are counted apart, each for JOBS
flows of one no-op: `submit` (one at a time, nothing may start), `dispatch` (all at once, to a worker that is stopped) and
`complete` (the worker is through with all of them while the server is stopped, so that their ends come together; until the
flows are in the history). What is more than 5 % away from the record fails: dearer is a regression, cheaper is a
gain that has to be recorded (--record), or the next regression would hide behind it.

Prints TAP.
"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "instructions.json")
sys.path.insert(0, os.path.join(HERE, "..", "sdk", "python", "src"))

import reeve  # noqa: E402

JOBS = 1000
WARM = 100
APART = 0.05
PATIENCE_S = 120
REST_S = 1.5
FLOW = {"jobs": {"a": {"noop": True}}}


def until(what, said):
    """Waits for a condition; for a limited time."""
    end = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > end:
            raise SystemExit(f"instructions: waited in vain for {said}")
        time.sleep(0.1)


def rests(process):
    """Waits until a process has used no processor for a while."""
    def used():
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[11:13]
    seen, since, end = used(), time.monotonic(), time.monotonic() + PATIENCE_S
    while time.monotonic() - since < REST_S:
        time.sleep(0.05)
        now = used()
        if now != seen:
            seen, since = now, time.monotonic()
        if since > end:
            raise SystemExit("instructions: there is no end of it")


class Lab:
    def __init__(self, program, folder):
        self.folder, self.data = folder, os.path.join(folder, "data")
        self.log = open(os.path.join(folder, "log"), "wb")
        self.out = os.path.join(folder, "count")
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={self.out}"]
        serve = [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(valgrind + serve, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until(self.answers, "the server")
        self.client = reeve.Client(self.line("address"), token=self.line("admin.token"))
        env = dict(os.environ, REEVE_TOKEN=self.line("worker.token"))
        work = [program, "worker", "--server", self.line("address"), "--data", os.path.join(folder, "worker"),
                "--slots", str(JOBS)]
        self.worker = subprocess.Popen(work, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env)
        until(lambda: self.client.workers(), "the worker")

    def line(self, name):
        with open(os.path.join(self.data, name), encoding="utf-8") as f:
            return f.readline().strip()

    def answers(self):
        if self.server.poll() is not None:
            raise SystemExit("instructions: the server ended, see " + self.log.name)
        try:
            reeve.Client(self.line("address"), token=self.line("admin.token")).close()
            return True
        except (OSError, reeve.Error):
            return False

    def counted(self):
        """Instructions of the loop's thread since it was asked the last time."""
        before = set(glob.glob(self.out + ".*-01"))
        subprocess.run(["callgrind_control", "--dump", str(self.server.pid)], check=True, timeout=PATIENCE_S,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (dump,) = set(glob.glob(self.out + ".*-01")) - before
        with open(dump, encoding="utf-8") as f:
            totals = [line for line in f if line.startswith("totals:")]
        return int(totals[0].split()[1])

    def expects(self, name, number):
        """Asked after counting, as asking costs something, too."""
        seen = self.client.stats()[name]
        if seen != number:
            raise SystemExit(f"instructions: {name} is {seen}, not {number}")

    def close(self):
        self.worker.send_signal(signal.SIGCONT)
        for process in (self.worker, self.server):
            process.kill()
            process.wait()
        self.log.close()


def measure(program):
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(program, folder)
        try:
            for _ in range(WARM):
                lab.client.submit(FLOW)
            rests(lab.server)
            lab.expects("history_flows", WARM)
            lab.client.pause("default", "tenant")
            lab.counted()
            for _ in range(JOBS):
                lab.client.submit(FLOW)
            submit = lab.counted()
            lab.worker.send_signal(signal.SIGSTOP)
            lab.client.resume("default", "tenant")
            rests(lab.server)
            dispatch = lab.counted()
            lab.expects("jobs_queued", 0)
            lab.counted()
            lab.server.send_signal(signal.SIGSTOP)
            lab.worker.send_signal(signal.SIGCONT)
            rests(lab.worker)
            lab.server.send_signal(signal.SIGCONT)
            rests(lab.server)
            complete = lab.counted()
            lab.expects("history_flows", WARM + JOBS)
        finally:
            lab.close()
    return {"submit": submit // JOBS, "dispatch": dispatch // JOBS, "complete": complete // JOBS}


def main():
    seen = measure(os.path.abspath(sys.argv[1]))
    if "--record" in sys.argv[2:]:
        with open(RECORD, "w", encoding="utf-8") as f:
            json.dump(seen, f, indent=4)
            f.write("\n")
    with open(RECORD, encoding="utf-8") as f:
        recorded = json.load(f)
    failed = 0
    for number, (name, count) in enumerate(seen.items(), 1):
        apart = count / recorded[name] - 1
        is_good = abs(apart) <= APART
        failed += not is_good
        print(f"{'ok' if is_good else 'not ok'} {number} - {name}: {count} instructions a job, {apart:+.1%} of the "
              f"recorded {recorded[name]}")
    print(f"1..{len(seen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
