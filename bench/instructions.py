#!/usr/bin/env python3
"""instructions.py PROGRAM [--record]: what a job costs the server, in instructions, against bench/instructions.json.

The server is the real one under valgrind, its worker the real one beside it. Three things are counted apart, each for JOBS
flows of one no-op: `submit` (one at a time, nothing may start), `dispatch` (all at once, to a worker that is stopped) and
`complete` (the worker is through with all of them while the server is stopped, so that their ends come together; until the
flows are in the history). What is more than 5 % away from the record fails: dearer is a regression, cheaper is a
gain that has to be recorded (`make bench-record`), or the next regression would hide behind it.

The record names what it was counted with: compiler, libraries, valgrind, processor. Where these are others, so are the
counts; then what is away from the record is said and skipped, not failed.

Prints TAP.
"""
import ctypes
import json
import os
import platform
import re
import signal
import ssl
import subprocess
import sys
import tempfile

from counted import HERE, Server, rests

RECORD = os.path.join(HERE, "instructions.json")
JOBS = 1000
WARM = 100
APART = 0.05
FLOW = {"jobs": {"a": {"noop": True}}}


def made_with(program):
    """What changes counts without a change of ours. Upstream versions: a fix of the distribution is not another library."""
    with open(program, "rb") as f:
        compilers = re.findall(rb"(?:GCC: \([^)]*\)|clang version) ([0-9.]+)", f.read())
    uv = ctypes.CDLL("libuv.so.1").uv_version_string
    uv.restype = ctypes.c_char_p
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = set(f.read().split())
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    return {
        "compiler": compilers[-1].decode() if compilers else "",
        "libc": platform.libc_ver()[1],
        "libuv": uv().decode(),
        "openssl": ".".join(ssl.OPENSSL_VERSION.split()[1].split(".")[:2]),
        "valgrind": valgrind,
        "machine": platform.machine() + "".join(" " + flag for flag in ("avx2", "avx512f", "sha_ni") if flag in flags),
    }


def measure(program):
    with tempfile.TemporaryDirectory() as folder:
        lab = Server(program, folder)
        try:
            worker = lab.worker(JOBS)
            for _ in range(WARM):
                lab.client.submit(FLOW)
            lab.settles("history_flows", WARM)
            asking = lab.asking()
            lab.client.pause("default", "tenant")
            lab.counted()
            for _ in range(JOBS):
                lab.client.submit(FLOW)
            submit = lab.counted()
            worker.send_signal(signal.SIGSTOP)
            lab.client.resume("default", "tenant")
            asked = lab.settles("jobs_queued", 0)
            dispatch = lab.counted() - asked * asking
            lab.process.send_signal(signal.SIGSTOP)
            worker.send_signal(signal.SIGCONT)
            rests(worker)
            lab.process.send_signal(signal.SIGCONT)
            asked = lab.settles("history_flows", WARM + JOBS)
            complete = lab.counted() - asked * asking
        finally:
            lab.close()
    return {"submit": submit // JOBS, "dispatch": dispatch // JOBS, "complete": complete // JOBS}


def differences(ours, theirs):
    return ", ".join(f"{k} {theirs.get(k, '?')} there and {v} here" for k, v in ours.items() if theirs.get(k) != v)


def main():
    program = os.path.abspath(sys.argv[1])
    here, seen = made_with(program), measure(program)
    if "--record" in sys.argv[2:]:
        with open(RECORD, "w", encoding="utf-8") as f:
            json.dump({"made_with": here, "instructions": seen}, f, indent=4)
            f.write("\n")
    with open(RECORD, encoding="utf-8") as f:
        record = json.load(f)
    other = differences(here, record["made_with"])
    failed = 0
    for number, (name, count) in enumerate(seen.items(), 1):
        recorded = record["instructions"][name]
        apart = count / recorded - 1
        is_near = abs(apart) <= APART
        failed += not is_near and not other
        print(f"{'ok' if is_near or other else 'not ok'} {number} - {name}: {count} instructions a job, {apart:+.1%} of the "
              f"recorded {recorded}" + (f" # SKIP {other}; `make bench-record` renews it" if other and not is_near else ""))
    print(f"1..{len(seen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
