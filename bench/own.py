#!/usr/bin/env python3
"""own.py [--rounds N] [--data DIR] [--quick] [--only W1,W2]: `make bench`: the workloads of `reeve bench`, shown as they
end and written down.

A whole run writes bench/own.json, and from it the section of bench/RESULTS.md and the short table of README.md;
`--render` only does the latter, and `--check` says whether they are what the record gives. With --quick or --only nothing
is written: less must not take the place of more. Who is interrupted, or fails, leaves everything as it was.
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
README = os.path.join(ROOT, "README.md")
UNITS = {"us": "µs"}
# What README.md tells, in plain words: workload and shape.
HOW_FAST = (
    ("W1", "", "a submit, on disk when it is answered, one after the other"),
    ("W2", "", "the same from 64 clients at once"),
    ("W13", "", "the same by HTTP and JSON"),
    ("W4", "", "a job that does nothing, from its submit to its result"),
    ("W8", "", "a step of a chain of such jobs"),
    ("W5", "", "500,000 of them that are queued, through two workers"),
    ("W6", "", "`/bin/true` as a job, output kept"),
    ("W11", "p99, others queued", "a tenant's small job while another's 100,000 wait, 99 of 100"),
    ("W9", "1,000,000 x 1", "kill -9 with a million flows queued, until the first job is given away again"),
    ("W10", "job in a flow", "memory of a queued job beside its text of 200 bytes"),
)
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


def readme_part(record):
    found = {(line["workload"], line.get("shape", "")): line for line in record["figures"]}
    out = headed(["", "what", "measured", "the machine at best", "target", ""], "llrrrl")
    for workload, shape, words in HOW_FAST:
        line = found.get((workload, shape))
        told_of = ["not measured", "", "", ""]
        if line is not None:
            told_of = [amount(line, "value"), amount(line, "floor"), target_of(line), verdict(line)]
        out.append(table_row([workload, words, *told_of]))
    where = f"{record['machine']['processors']}, {record['machine']['file system'].split()[0]}"
    return "\n".join([*out, "", f"{record['date'].split()[0]}, {where}. {record['busy']}".strip()])


def documents(record):
    """(path, section, text) of what the record gives."""
    if record is None:
        nothing = f"Not measured yet: `{sections.RESULTS['own']}` writes it."
        return [(RESULTS, "own", nothing), (README, "own", nothing)]
    return [(RESULTS, "own", results_part(record)), (README, "own", readme_part(record))]


def recorded():
    text = sections.read(RECORD)
    return json.loads(text) if text else None


def there(path):
    return sections.read(path, sections.empty_results() if path == RESULTS else "")


def render(record):
    """Both documents are made before the first is written."""
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
