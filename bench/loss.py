#!/usr/bin/env python3
"""loss.py: what queues lose of what they acknowledged (W12), by the measure of `reeve crashtest`: several connections put
jobs one after the other and note each acknowledgement; at a random moment the server is killed (-9) and started again on
the same directory; what was acknowledged is looked for. Then the same with a power cut: the server writes through
tools/powercut, and all that it did not sync is taken back before the restart.

    python3 bench/loss.py [--rounds N] [--systems reeve,redis] [--markdown | --json] [--seed N] [--data DIR] [--build DIR]

The cut is the mild one: whole unsynced writes are lost, none is torn, and any sync makes the names before it durable,
as on ext4 and XFS. Reeve, the first row, is held to more by `reeve crashtest`: aimed kills, torn sectors, names by their
directory, a slow and a failing disk. Every system has a row: one that is not installed, does not start or fails says so
in it. Needs build/release (make build) for Reeve and for the power cuts.
"""
import argparse
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types

from loss_peers import PEERS, START_SECONDS_MAX

BENCH = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS = 4
ROUND_SECONDS_MAX = 1.5  # what is synced once a second has a chance, too
REEVE_SECONDS_A_ROUND, REEVE_SECONDS = 20, 120
HEADS = ("system", "how it acknowledges", "lost by kill -9", "lost by a power cut", "run twice")


def say(text):
    print(f"bench/loss: {text}", file=sys.stderr, flush=True)


class Run:
    """Rounds of one peer, with or without power cuts."""

    def __init__(self, peer, power, options, home):
        self.peer, self.options, self.random = peer(home), options, random.Random(options.seed)
        self.state = os.path.join(home, "state") if power else None
        self.process = None
        self.acknowledged, self.lost, self.next = set(), set(), 0
        self.refusal = None
        self.lock = threading.Lock()
        self.log = open(os.path.join(home, "log"), "ab")

    def tool(self, *args):
        subprocess.run([os.path.join(self.options.build, "powercut"), *args], check=True, stdout=subprocess.DEVNULL,
                       timeout=START_SECONDS_MAX)

    def start(self):
        env, user = dict(os.environ), self.peer.user()
        if self.state:
            env.update(LD_PRELOAD=os.path.join(self.options.build, "powercut.so"), POWERCUT_STATE=self.state,
                       POWERCUT_DIRS=self.peer.data)
        self.process = subprocess.Popen(self.peer.command(), env=env, user=user, group=user, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                return self.peer.connect().close()
            except (ConnectionError, OSError):
                if self.process.poll() is not None:
                    raise RuntimeError("it does not start again" if self.acknowledged else "it does not start")
                if time.monotonic() > until:
                    raise RuntimeError("it does not answer")
                time.sleep(0.005)

    def kill(self):
        """The server alone first: what it started may notice, as in life. A power cut leaves nobody."""
        if self.process is None:
            return
        if self.state:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.kill()
        self.process.wait()
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until and not is_gone(self.process.pid):  # processes of its own end when it is gone
            time.sleep(0.005)
        if not is_gone(self.process.pid):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process = None

    def client(self):
        try:
            c = self.peer.connect()
            while True:
                with self.lock:
                    self.next += 1
                    number = self.next
                self.peer.put(c, number)
                self.acknowledged.add(number)
        except (ConnectionError, OSError, ValueError):
            pass  # it was killed
        except RuntimeError as error:
            self.refusal = f"a job was refused: {error}"

    def one_round(self):
        threads = [threading.Thread(target=self.client, daemon=True) for _ in range(CONNECTIONS)]
        for t in threads:
            t.start()
        time.sleep(self.random.random() * ROUND_SECONDS_MAX)
        self.kill()
        for t in threads:
            t.join(START_SECONDS_MAX)
        if self.refusal:
            raise RuntimeError(self.refusal)
        if self.state:
            self.tool("cut", self.state, "--names", "all", self.peer.data)
        self.start()
        self.lost |= self.acknowledged - self.peer.all()

    def settle(self):
        self.tool("settle", self.state)
        if self.peer.user():
            for path, _, files in os.walk(self.state):
                for name in [path, *(os.path.join(path, f) for f in files)]:
                    shutil.chown(name, self.peer.user())

    def run(self):
        """What was found, also when it fails on the way."""
        found = {"rounds_lost": 0}
        try:
            if self.state:
                self.settle()
            self.peer.prepare()
            self.start()
            for _ in range(self.options.rounds):
                before = len(self.lost)
                self.one_round()
                found["rounds_lost"] += len(self.lost) > before
        except Exception as error:  # a driver that fails is a row, and no end of the table
            found["error"] = reason_of(error)
        finally:
            self.kill()
            self.log.close()
        return dict(found, acknowledged=len(self.acknowledged), lost=len(self.lost))


def is_gone(group):
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                words = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[2]) == group and words[0] != "Z":
            return False
    return True


def reason_of(error):
    said = getattr(error, "stderr", None)  # of a program that failed: the last line tells most
    if said:
        return (said.decode(errors="replace") if isinstance(said, bytes) else said).strip().splitlines()[-1]
    return " ".join(str(error).split()) or type(error).__name__


def peer_found(peer, power, options):
    missing = peer.missing()
    if missing is None and power and not os.path.exists(os.path.join(options.build, "powercut.so")):
        missing = "powercut.so is not built"
    if missing is not None:
        return {"missing": missing}
    home = tempfile.mkdtemp(prefix="reeve-loss-", dir=options.data)
    os.chmod(home, 0o755)
    try:
        return Run(peer, power, options, os.path.realpath(home)).run()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def reeve_found(power, options):
    program = os.path.join(options.build, "reeve")
    if not os.path.exists(program):
        return {"missing": "reeve is not built"}
    command = [program, "crashtest", "--json", "--rounds", str(options.rounds), "--seed", str(options.seed),
               "--data", options.data]
    try:
        got = subprocess.run(command + ["--power-cut"] * power, capture_output=True, text=True,
                             timeout=REEVE_SECONDS + REEVE_SECONDS_A_ROUND * options.rounds)
    except subprocess.TimeoutExpired as error:
        return {"error": f"no end after {error.timeout:.0f} s"}
    if not got.stdout.startswith("{"):
        return {"error": got.stderr.strip().splitlines()[-1] if got.stderr.strip() else f"exit code {got.returncode}"}
    found = json.loads(got.stdout)
    return {key: found[key] for key in ("acknowledged", "lost", "jobs_run", "run_twice", "ended_badly", "hung")}


def rows(options):
    """One for each system, as it is measured: Reeve first."""
    systems = [("Reeve", "a sync before each answer; flows, blobs, keys, logs", reeve_found)]
    systems += [(p.name, p.what, lambda power, o, p=p: peer_found(p, power, o)) for p in PEERS]
    words = [word.strip().lower() for word in (options.systems or "").split(",")]
    for name, what, find in systems:
        if not any(word in name.lower() for word in words):
            continue
        row = {"system": name, "what": what}
        for key, power in (("kill", False), ("power_cut", True)):
            say(f"{name}, {what}: {'power cuts' if power else 'kills'}")
            try:
                row[key] = find(power, options)
            except Exception as error:
                row[key] = {"error": reason_of(error)}
        yield row


def measured(rounds, data, systems="", seed=None, build=os.path.join(BENCH, "..", "build", "release")):
    """All of it, as a value that JSON can keep and `section` shows."""
    options = types.SimpleNamespace(rounds=rounds, data=data, systems=systems, build=os.path.abspath(build),
                                    seed=seed or random.randrange(1, 2**31))
    return {"rounds": rounds, "seed": options.seed, "rows": list(rows(options))}


# ---- what it says ----

def cell(found):
    if "missing" in found:
        return f"not run: {found['missing']}"
    if found.get("acknowledged") is None:
        return f"failed: {found['error']}"
    text = f"{found['lost']:,} of {found['acknowledged']:,}"
    if found.get("rounds_lost"):
        text += f", in {found['rounds_lost']} rounds"
    for key, what in (("ended_badly", "ended wrongly"), ("hung", "hang")):
        if found.get(key):
            text += f"; {found[key]:,} {what}"
    return text + (f"; then it failed: {found['error']}" if "error" in found else "")


def twice(row):
    """Of jobs, which only Reeve runs here."""
    found = [row[key] for key in ("kill", "power_cut") if "jobs_run" in row[key]]
    return f"{sum(f['run_twice'] for f in found):,} of {sum(f['jobs_run'] for f in found):,}" if found else ""


def cells(row):
    texts = (row["system"], row["what"], cell(row["kill"]), cell(row["power_cut"]), twice(row))
    return [" ".join(text.split()).replace("|", "/") for text in texts]


def table(result):
    lines = ["| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS)]
    return lines + ["| " + " | ".join(cells(row)) + " |" for row in result["rows"]]


def section(result):
    """The part of bench/RESULTS.md."""
    lines = ["## W12: acknowledged and lost", "",
             f"By `bench/loss.py`, {result['rounds']} rounds of kills and {result['rounds']} of power cuts for each, "
             f"{CONNECTIONS} connections with one request in flight each, seed {result['seed']}. Given is what was lost of "
             "what had been acknowledged. A round lasts up to "
             f"{ROUND_SECONDS_MAX:g} s; those of Reeve are shorter and aimed, and its disk is held to more, torn sectors "
             "among it ([how](../docs/guides/crashtest.md)). *run twice* is of jobs, which only Reeve runs here.", ""]
    return "\n".join(lines + table(result)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--systems", default="", help="parts of names: reeve,redis")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--markdown", action="store_true", help="as in bench/RESULTS.md")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", default=os.environ.get("TMPDIR") or "/var/tmp", help="on which disk")
    parser.add_argument("--build", default=os.path.join(BENCH, "..", "build", "release"))
    args = parser.parse_args()
    if args.rounds < 1:
        raise SystemExit("bench/loss: --rounds: at least one")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is ended on the way out
    result = measured(args.rounds, args.data, args.systems, args.seed, args.build)
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        print(section(result) if args.markdown else "\n".join(table(result)))


if __name__ == "__main__":
    main()
