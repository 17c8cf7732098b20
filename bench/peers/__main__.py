"""Reeve beside others, on the same machine, in the same run.

    python3 bench/peers [--quick] [--rounds N] [--loss-rounds N] [--minutes N] [--only W1,W12] [--systems reeve,redis] [--data DIR]
                        [--out DIR] [--list]

Writes its section of RESULTS.md and results.svg into --out (bench/; a quick run, or one that has not everything, into build/peers,
so that it does not take the place of more) and the raw figures into build/peers/results.json. `--render` only writes them again
from there. Installs nothing from Debian (tools/deps.sh peers does); packages of npm go below build/peers.
"""
import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import figures
import loss  # bench/loss.py
import machine
import sections
from lab import BUILD, ROOT, Failed, Lab
from measure import count_syncs, measure, say
from peer import all_peers
from plot import svg
from report import markdown
from table import WORKLOADS, Plan, disk_speed

LOSS_MINUTES_A_ROUND = 0.4  # of kills and of power cuts, of all systems
COUNTING_MINUTES = 1.5  # that the syncs take at the end


def floors(disk, quick):
    import reeve  # systems/reeve.py
    with Lab(disk) as lab:
        return reeve.bench(lab.folder, "W0", Plan(WORKLOADS[0], quick))


def described(peers):
    found = []
    for each in peers:
        try:
            version = each(None).version()
        except (Failed, OSError, subprocess.SubprocessError) as error:
            version = f"not run: {error}"
        found.append({"name": each.name, "version": version, "sync": each.sync, "settings": each.settings})
    return found


def loss_rounds(args):
    """Of W12, which is no workload of table.py: what is acknowledged and lost."""
    named = not args.only or "W12" in args.only.upper().split(",")
    return (min(args.loss_rounds, 1) if args.quick else args.loss_rounds) if named else 0


def command():
    parts = [f"{name}={shlex.quote(os.environ[name])}" for name in ("RUNS", "MINUTES", "QUICK", "ONLY", "BENCH_DATA") if os.environ.get(name)]
    if os.environ.get("MAKELEVEL"):
        return " ".join(["make bench-peers", *parts])
    return "python3 bench/peers " + " ".join(map(shlex.quote, sys.argv[1:])).strip()


def wanted(args):
    names = args.only.upper().split(",") if args.only else [each.name for each in WORKLOADS]
    words = [word.lower() for word in args.systems.split(",")] if args.systems else [""]
    workloads = [each for each in WORKLOADS if each.name in names]
    peers = [each for each in all_peers() if any(word in each.name.lower() for word in words)]
    if not (workloads or loss_rounds(args)) or not peers:
        raise SystemExit("bench/peers: nothing is left to do; --list shows what there is")
    return workloads, peers


def run(args):
    workloads, peers = wanted(args)
    began = time.monotonic()
    results = {"command": command(), "date": machine.today(), "quick": args.quick, "whole": is_whole(args),
               "machine": machine.machine(args.data), "busy": machine.busy(), "floors": floors(args.data, args.quick)}
    results["workloads"] = []
    counting = began + (args.minutes - LOSS_MINUTES_A_ROUND * loss_rounds(args)) * 60
    end = counting - COUNTING_MINUTES * 60
    for i, each in enumerate(workloads):
        # What one of them did not use the next ones have.
        seconds = (end - time.monotonic()) * each.share / sum(one.share for one in workloads[i:])
        results["workloads"].append(measure(each, peers, args.data, args.rounds, args.quick, disk_speed(results["floors"]), seconds, end))
    if not args.no_syncs:
        count_syncs(results["workloads"], peers, workloads, args.data, args.quick, counting)
    results["loss"] = loss.measured(loss_rounds(args), args.data, args.systems) if loss_rounds(args) else None
    results["systems"] = described(peers)
    results["minutes"] = (time.monotonic() - began) / 60
    return results


def is_whole(args):
    return not (args.quick or args.only or args.systems)


def folder_of(whole):
    return os.path.join(ROOT, "bench") if whole else BUILD


def check_place(out):
    """Whether there is a place for the results: said now and not when they are there."""
    path = os.path.join(out, "RESULTS.md")
    sections.cut(sections.read(path, sections.empty_results()), "peers", path)


def write(results, out):
    os.makedirs(out, exist_ok=True)
    part = sections.deeper(markdown(results, loss.section(results["loss"]) if results.get("loss") else ""))
    sections.put(os.path.join(out, "RESULTS.md"), "peers", part, sections.empty_results())
    sections.write(os.path.join(out, "results.svg"), svg(results))
    say(f"bench/peers: written: {out}/RESULTS.md and results.svg, in {figures.number(results['minutes'])} minutes")


def arguments():
    p = argparse.ArgumentParser(prog="bench/peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="small counts: whether it works, not how fast it is")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--minutes", type=float, default=14, help="after about so many nothing more begins; who had no turn is listed as not run")
    p.add_argument("--only", default="", help="workloads: W1,W2")
    p.add_argument("--systems", default="", help="parts of names: reeve,redis")
    p.add_argument("--data", default=machine.disk(), help="on which disk")
    p.add_argument("--out", help="bench/ for a whole run, build/peers for others")
    p.add_argument("--loss-rounds", type=int, default=10, help="of W12, kills and power cuts each; 0 leaves it out")
    p.add_argument("--no-syncs", action="store_true", help="do not count syncs")
    p.add_argument("--list", action="store_true")
    p.add_argument("--render", action="store_true")
    return p.parse_args()


def main():
    args = arguments()
    if args.rounds < 1:
        raise SystemExit("bench/peers: --rounds: at least one")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is ended on the way out
    raw = os.path.join(BUILD, "results.json")
    if args.list:
        for workload in WORKLOADS:
            print(f"{workload.name:4} {workload.text}")
            print("     " + ", ".join(each.name for each in all_peers() if each.does(workload)))
        return
    if args.render:
        with open(raw, encoding="utf-8") as f:
            results = json.load(f)
        write(results, args.out or folder_of(results["whole"]))
        return
    out = args.out or folder_of(is_whole(args))
    check_place(out)
    results = run(args)
    os.makedirs(BUILD, exist_ok=True)
    with open(raw, "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1)
    write(results, out)


if __name__ == "__main__":
    try:
        main()
    except (sections.Broken, Failed) as error:
        raise SystemExit(f"bench/peers: {error}") from None
