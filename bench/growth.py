#!/usr/bin/env python3
"""growth.py PROGRAM [--quick] [--only CURVE]: does a job cost the server the same however much there is?

Four curves, each of the cost of one no-op job from its submit to the end of its flow:

    jobs        one flow of 1,000 to 1,000,000 jobs, through one worker of 1,000 slots
    attached    jobs one at a time, while 1 to 1,000 workers are attached
    spread      1,000 queued jobs, given at once to 1 to 1,000 workers that have 1,000 slots in all
    questions   jobs one at a time, while 10 to 1,000,000 others stand before an approval

and `beat`, the heartbeat of one of 1 to 1,000 workers. The server is the real one. Each point is measured twice: in instructions of
its loop (callgrind; the same whatever else runs) and as processor time of all its threads, together with the time on the wall. Workers
are connections of this process, but for `jobs`, where it is the program itself.

Writes bench/growth.json, bench/growth.svg and the table of bench/GROWTH.md; with --quick or --only nothing is written.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from counted import HERE, Crowd, Server, rests
from growth_draw import draw, table

import machine  # from peers/, as growth_draw.py
import sections
from reeve import _ops as ops

NOOP = {"jobs": {"a": {"noop": True}}}
PART_JOBS = 10000
TRIPS, TRIPS_COUNTED = 300, 100
LEASE = ("--lease-ms", "3600000")  # nobody beats while it is measured, and on a busy machine that takes a while
QUEUED = 1000
ROUNDS = 3
ROUNDS_JOBS_MAX = 100000  # more are measured once
INSTRUCTIONS_JOBS_MAX = 100000  # a million take minutes under callgrind


def trips_cost(lab, crowd):
    count = TRIPS_COUNTED if lab.counts else TRIPS
    return costs(lab, lambda: trips(lab, crowd, count), count)


def trips(lab, crowd, count):
    for _ in range(count):
        lab.client.wait(lab.client.submit(NOOP), timeout=60)
        crowd.check()


def costs(lab, work, count):
    """Of one of `count`, in rounds: cost and seconds. What comes before is not counted."""
    cost, wall = [], []
    for _ in range(1 if lab.counts or count > ROUNDS_JOBS_MAX else ROUNDS):
        lab.cost_begin()
        began = time.monotonic()
        work()
        wall.append((time.monotonic() - began) / count)
        cost.append(lab.cost() / count)
    return {"cost": statistics.median(cost), "wall_us": statistics.median(wall) * 1e6}


def parts_of(jobs):
    names = [f"j{i}" for i in range(jobs)]
    return [{"jobs": {name: {"noop": True} for name in names[i:i + PART_JOBS]}} for i in range(0, jobs, PART_JOBS)]


def measure_jobs(lab, jobs):
    lab.worker(QUEUED)
    parts = parts_of(jobs)

    def work():
        flow = lab.client._run(ops.submit_parts(parts, ops.new_key(), None))
        lab.client.wait(flow, timeout=1800)
    lab.client.wait(lab.client.submit(NOOP))
    return costs(lab, work, jobs)


def measure_attached(lab, workers):
    crowd = Crowd(lab, workers, 4)
    trips(lab, crowd, 20)
    rests(lab.process)
    crowd.beat()
    rests(lab.process)
    seen = trips_cost(lab, crowd)
    crowd.close()
    return seen


def measure_beat(lab, workers):
    crowd = Crowd(lab, workers, 4)
    times = max(1, 1000 // workers)

    def work():
        for _ in range(times):
            crowd.beat()
    rests(lab.process)
    seen = costs(lab, work, times * workers)
    crowd.close()
    return {"cost": seen["cost"]}


def measure_spread(lab, workers):
    crowd = Crowd(lab, workers, QUEUED // workers)
    trips(lab, crowd, 20)
    flow = parts_of(QUEUED)[0]

    def work():
        for _ in range(1 if lab.counts else 10):
            lab.client.wait(lab.client.submit(flow), timeout=120)
    rests(lab.process)
    crowd.beat()
    rests(lab.process)
    seen = costs(lab, work, QUEUED * (1 if lab.counts else 10))
    crowd.close()
    return seen


def measure_questions(lab, questions):
    crowd = Crowd(lab, 1, 4)
    asks = {"noop": True, "approval": {"message": "may it?", "timeout": "24h"}}
    for i in range(0, questions, PART_JOBS):
        lab.client.submit({"jobs": {f"j{n}": asks for n in range(min(PART_JOBS, questions - i))}})
        crowd.beat()
    trips(lab, crowd, 20)
    rests(lab.process)
    crowd.beat()
    rests(lab.process)
    seen = trips_cost(lab, crowd)
    lab.expects("questions", questions)
    crowd.close()
    return seen


CURVES = {
    "jobs": ("jobs in one flow", measure_jobs, [1000, 10000, 100000, 1000000]),
    "attached": ("workers attached, jobs one at a time", measure_attached, [1, 10, 100, 1000]),
    "spread": ("workers that share 1,000 queued jobs", measure_spread, [1, 10, 100, 1000]),
    "questions": ("questions that wait", measure_questions, [10, 100, 1000, 10000, 100000, 1000000]),
    "beat": ("workers, one heartbeat of one", measure_beat, [1, 10, 100, 1000]),
}


def point(program, measure, at, counts):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        lab = Server(program, folder, counts=counts, from_start=False, flags=LEASE)
        try:
            return measure(lab, at)
        finally:
            lab.close()


def curve(program, name, quick):
    text, measure, sizes = CURVES[name]
    points = []
    for at in sizes[:2] if quick else sizes:
        seen, began = {"at": at}, time.monotonic()
        if name != "jobs" or at <= INSTRUCTIONS_JOBS_MAX:
            seen["instructions"] = round(point(program, measure, at, True)["cost"])
        native = point(program, measure, at, False)
        seen["cpu_us"] = round(native["cost"] / 1000, 2)
        if "wall_us" in native:
            seen["wall_us"] = round(native["wall_us"], 1)
        points.append(seen)
        print(f"{name:10} {at:>9,}  " + "  ".join(f"{k} {v:,}" for k, v in seen.items() if k != "at") +
              f"  ({time.monotonic() - began:.0f} s)", flush=True)
    return {"text": text, "points": points}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=CURVES)
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    place = os.path.join(HERE, "GROWTH.md")
    sections.cut(sections.read(place), "growth", place)  # now and not when the figures are there
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    began = time.monotonic()
    record = {"version": version, "date": machine.today(), "machine": machine.machine(tempfile.gettempdir()), "busy": machine.busy()}
    record["curves"] = {name: curve(program, name, args.quick) for name in ([args.only] if args.only else CURVES)}
    record["minutes"] = (time.monotonic() - began) / 60
    print(f"growth: {record['minutes']:.1f} minutes" + ("; nothing was written" if args.quick or args.only else ""))
    if args.quick or args.only:
        return
    sections.write(os.path.join(HERE, "growth.json"), json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    draw(record, os.path.join(HERE, "growth.svg"))
    table(record, place)


if __name__ == "__main__":
    sys.exit(main())
