#!/usr/bin/env python3
"""own.py [--rounds N] [--data DIR] [--quick] [--only W1,W2]: `make bench`: the workloads of `reeve bench`, shown as they
end and written down.

A whole run writes bench/own.json, and from it the section of bench/RESULTS.md, the table with targets of
docs/benchmarks.md and the short table of README.md. `--render` only writes these documents, and `--check` says whether
they are what the record gives. With --quick or --only nothing is written: less must not take the place of more. A run
that is interrupted, or fails, leaves everything as it was.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "peers"))

import machine  # noqa: E402
import sections  # noqa: E402
from figures import number, per_thousand  # noqa: E402

RECORD = os.path.join(HERE, "own.json")
RESULTS = os.path.join(HERE, "RESULTS.md")
BENCHMARKS = os.path.join(ROOT, "docs", "benchmarks.md")
README = os.path.join(ROOT, "README.md")
UNITS = {"us": "µs"}
# What docs/benchmarks.md shows with targets: workload, shape, and what it is in plain words.
HOW_FAST = (
    ("W1", "", "durable submits from one client, one after the other"),
    ("W2", "", "durable submits from 64 clients"),
    ("W13", "", "durable submits from 64 clients by HTTP and JSON"),
    ("W4", "", "a job that does nothing, from its submit to its result"),
    ("W8", "", "one step in a chain of such jobs"),
    ("W5", "", "500,000 queued jobs that do nothing, through two workers"),
    ("W6", "", "`/bin/true` as a job, output kept"),
    ("W11", "p99, others queued", "a small job of one tenant while another tenant has 100,000 queued, 99th percentile"),
    ("W9", "1,000,000 x 1", "kill -9 with a million flows queued, until the first job is dispatched again"),
    ("W10", "job in a flow", "memory of a queued job, without its text of 200 bytes"),
)
# The rows of README.md.
IN_README = ("W1", "W2", "W4", "W5", "W6", "W9")
HOW = """*ratio* says how near it comes to the floor, measured in turn with it: 1 = as good, whichever way the unit runs. *syncs* is how often the server's own counter of them rose during one measurement of so many *operations* (submits answered, jobs ended).
What the floors are, and what limits each: [docs/benchmarks.md](../docs/benchmarks.md)."""


def unit(line):
    return UNITS.get(line["unit"], line["unit"])


def amount(line, key):
    return "" if line[key] is None else f"{number(line[key])} {unit(line)}"


def name_of(line):
    return line["workload"] + (f" ({line['shape']})" if line.get("shape") else "")


def target_of(line):
    return "" if line["target"] is None else f"{'≥' if line['unit'] == '/s' else '≤'} {amount(line, 'target')}"


def verdict(line):
    return {True: "met", False: "**missed**", None: ""}[line["met"]]


def human(line):
    """As `reeve bench` says it without --json."""
    spread = f"{number(line['min'])}..{number(line['max'])}" if line["rounds"] > 1 else ""
    floor = f"floor {number(line['floor'])}  ratio {line['ratio']:.2f}" if line["floor"] is not None else ""
    target = f"target {target_of(line)} {'met' if line['met'] else 'MISSED'}" if line["target"] is not None else ""
    syncs = f"{line['syncs']:,} syncs" if line["syncs"] else ""
    words = f"{name_of(line):28} {amount(line, 'value'):>14}  {spread:18}  {floor:30}  {target:28}  {syncs}"
    return words.rstrip()


def table_row(cells):
    return "| " + " | ".join(cells) + " |"


# ---- what is written ----

def row(line):
    counted = per_thousand(line["syncs"] or None, line["operations"])
    spread = f"{number(line['min'])} … {number(line['max'])}"
    ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f}"
    return table_row([name_of(line), amount(line, "value"), spread, amount(line, "floor"), ratio, target_of(line),
                      verdict(line), some(line["syncs"]), some(line["operations"]), some(counted)])


def some(value):
    return number(value) if value else ""


def settings_row(workload):
    given = workload["settings"]
    counts = [some(given[key]) for key in ("payload_bytes", "connections", "in_flight", "jobs_per_request")]
    jobs = "as many as there is time for" if given["jobs"] is None else number(given["jobs"])
    workers = some(given["workers"])
    if workers:
        workers += f" × {number(given['slots'])}" if given.get("slots") else ", slots by default"
    return table_row([workload["workload"], workload["text"], *counts, jobs, workers, given["sync"], given.get("other", "")])


def told(lines):
    asked = [line for line in lines if line["met"] is not None]
    missed = [name_of(line) for line in asked if not line["met"]]
    met = f"{len(asked) - len(missed)} of {len(asked)} targets are met"
    return met + (f"; missed: {', '.join(missed)}." if missed else ".")


def headed(columns, aligned):
    """The head of a table; `aligned` has a letter for each column, r = right."""
    return [table_row(columns), table_row({"l": "---", "r": "---:"}[each] for each in aligned)]


def results_part(record):
    busy = f" **{record['busy']}**" if record["busy"] else ""
    figures = headed(["", "value", "least … most", "floor", "ratio", "target", "", "syncs", "operations", "syncs per 1,000"],
                     "lrrrrrlrrr")
    settings = headed(["", "what", "payload, bytes", "connections", "in flight on each", "jobs in a request",
                       "jobs in a round", "workers × slots", "synced", "besides"], "llrrrrrlll")
    return "\n".join([
        "## Reeve's own workloads", "",
        f"Written by `make bench` on {record['date']} in {record['minutes']:.1f} minutes. {record['version']}, "
        f"tree {record['tree']}; rounds: {record['rounds']}, the median counts.{busy}", "",
        told(record["figures"]), "", HOW, "", *machine.machine_table(record["machine"]),
        *figures, *map(row, record["figures"]), "",
        "### Settings", "", "Server and workers are the program with its defaults, asked by TCP with a token.", "",
        *settings, *map(settings_row, record["workloads"])])


def short(record, workloads):
    """[(workload, words, figure or None)] of the rows that a short table has."""
    found = {(line["workload"], line.get("shape", "")): line for line in record["figures"]}
    return [(workload, words, found.get((workload, shape))) for workload, shape, words in HOW_FAST if workload in workloads]


def where_and_when(record):
    where = f"{record['machine']['processors']}, {record['machine']['file system'].split()[0]}"
    return f"{record['date'].split()[0]}, {where}. {record['busy']}".strip()


def benchmarks_part(record):
    out = headed(["", "what", "measured", "the machine at best", "target", ""], "llrrrl")
    for workload, words, line in short(record, [each[0] for each in HOW_FAST]):
        told_of = ["not measured", "", "", ""]
        if line is not None:
            told_of = [amount(line, "value"), amount(line, "floor"), target_of(line), verdict(line)]
        out.append(table_row([workload, words, *told_of]))
    return "\n".join([*out, "", where_and_when(record)])


def readme_part(record):
    out = headed(["what", "Reeve", "the machine at best"], "lrr")
    for _, words, line in short(record, IN_README):
        out.append(table_row([words, *(["not measured", ""] if line is None else [amount(line, "value"), amount(line, "floor")])]))
    return "\n".join([*out, "", where_and_when(record)])


def documents(record):
    """(path, section, text) of what the record gives."""
    if record is None:
        nothing = f"Not measured yet: `{sections.RESULTS['own']}` writes it."
        return [(path, "own", nothing) for path in (RESULTS, BENCHMARKS, README)]
    return [(RESULTS, "own", results_part(record)), (BENCHMARKS, "own", benchmarks_part(record)), (README, "own", readme_part(record))]


def recorded():
    text = sections.read(RECORD)
    return json.loads(text) if text else None


def there(path):
    return sections.read(path, sections.empty_results() if path == RESULTS else "")


def render(record):
    """All documents are made before the first is written."""
    made = [(path, sections.replaced(there(path), name, part, path)) for path, name, part in documents(record)]
    for path, text in made:
        sections.write(path, text)
    print("bench: written: " + ", ".join(os.path.relpath(path, ROOT) for path, _ in made))


def check():
    """TAP: whether the documents are what the record gives."""
    failed = 0
    for count, (path, name, part) in enumerate(documents(recorded()), 1):
        _, text, _ = sections.cut(there(path), name, path)
        is_same = text.strip("\n") == part.strip("\n")
        failed += not is_same
        said = f"{count} - {os.path.relpath(path, ROOT)} has the figures of bench/own.json"
        print(f"ok {said}" if is_same else f"not ok {said}\n# `python3 bench/own.py --render` writes them again")
    return 1 if failed else 0


# ---- measuring ----

def listed(program):
    done = subprocess.run([program, "bench", "--list", "--json"], check=True, capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(argv):
    """The figures of a run, each shown when it is there; the program draws its progress on a terminal itself."""
    figures = []
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout:
                figures.append(json.loads(line))
                print(human(figures[-1]), flush=True)
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise SystemExit(f"bench: `{' '.join(argv[1:])}` ended with {process.returncode}; nothing was written")
    return figures


def tree():
    done = subprocess.run(["git", "describe", "--always", "--dirty= with changes"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or "unknown"


def run(program, args):
    names = args.only.upper().split(",") if args.only else []
    workloads, began = listed(program), time.monotonic()
    record = {"date": machine.today(), "version": f"reeve {workloads[0]['version']}", "tree": tree(),
              "rounds": args.rounds, "machine": machine.machine(args.data), "busy": machine.busy()}
    rounds = 1 if args.quick else args.rounds
    print(f"{record['version']}, rounds: {rounds}, disk: {args.data}. {record['busy']}".strip(), flush=True)
    argv = [program, "bench", "--json", "--data", args.data, *names]
    record["figures"] = measured(argv + (["--quick"] if args.quick else ["--rounds", str(args.rounds)]))
    seen = {line["workload"] for line in record["figures"]}
    if args.quick or any(each["workload"] not in seen for each in workloads):
        print("bench: this was not a whole run: nothing was written")
        return None
    return {**record, "minutes": (time.monotonic() - began) / 60, "workloads": workloads}


def arguments():
    p = argparse.ArgumentParser(prog="bench/own.py", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--data", default=machine.disk(), help="on which disk")
    p.add_argument("--quick", action="store_true", help="whether it works, not how fast it is")
    p.add_argument("--only", default="", help="workloads: W1,W2")
    p.add_argument("--render", action="store_true")
    p.add_argument("--check", action="store_true")
    return p.parse_args()


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.check:
        return check()
    if args.render:
        render(recorded())
        return 0
    for path, name, _ in documents(None):  # now and not when the figures are there
        sections.cut(there(path), name, path)
    record = run(os.environ.get("REEVE_BINARY") or os.path.join(ROOT, "build", "release", "reeve"), args)
    if record is not None:
        sections.write(RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        render(record)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sections.Broken as error:
        raise SystemExit(f"bench: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit("bench: interrupted; nothing was written") from None
