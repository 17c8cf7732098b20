#!/usr/bin/env python3
"""ab.py OLD NEW [--rounds N] [--only W1,W2] [--data DIR]: compares two builds of the program on this machine.

First the instructions of a job (submit, dispatch, complete) of both, counted one after the other by callgrind: the same
whatever else the machine does. Then, with --rounds above 0, the workloads of `reeve bench`, one round of OLD and one of
NEW in turn, the order changing with every pair, so that a machine that grows slower slows both. A row is compared by its
ratio to the floor of the same round where it has one, else by its value; a sign test says how likely so many wins are if
both are equal.

Exit code 1: NEW is dearer than OLD by more than 2 % of instructions, or loses a row by more than 2 % in a way that chance
explains in fewer than 5 of 100 cases (one-sided, so five rounds are the least that can show it).
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

import instructions

DEARER = 0.02
CHANCE = 0.05


def chance_of_losses(losses, rounds):
    """How likely so many losses or more are when each round is the toss of a coin."""
    return sum(math.comb(rounds, k) for k in range(losses, rounds + 1)) / 2 ** rounds


def gain(old, new):
    """By how much NEW is better in one pair of lines; 0.1 = a tenth."""
    if old["ratio"] and new["ratio"]:
        return new["ratio"] / old["ratio"] - 1
    is_rate = old["unit"] == "/s"
    better, worse = (new["value"], old["value"]) if is_rate else (old["value"], new["value"])
    return better / worse - 1 if worse else 0.0


def row_of(name, gains):
    """(text, whether NEW is worse) of the gains of all rounds."""
    wins, losses = sum(each > 0 for each in gains), sum(each < 0 for each in gains)
    middle = statistics.median(gains)
    chance = chance_of_losses(losses, wins + losses)
    is_worse = middle < -DEARER and chance < CHANCE
    text = f"{name:28} {middle:+7.1%}   better in {wins}, worse in {losses}   chance of so many losses {chance:.3f}"
    return text + ("   WORSE" if is_worse else ""), is_worse


def count(programs):
    print("instructions of a job             old        new", flush=True)
    old, new = (instructions.measure(each) for each in programs)
    is_dearer = False
    for name, was in old.items():
        change = new[name] / was - 1
        is_dearer |= change > DEARER
        print(f"{name:28} {was:10,} {new[name]:10,} {change:+7.1%}{'   DEARER' if change > DEARER else ''}", flush=True)
    return is_dearer


def one_round(program, names, data):
    argv = [program, "bench", "--json", "--rounds", "1", *(["--data", data] if data else []), *names]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["workload"] + (f" ({line['shape']})" if line.get("shape") else ""): line for line in lines}


def race(programs, rounds, names, data):
    gains = {}
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        seen = {each: one_round(programs[each], names, data) for each in order}
        for name in seen[0].keys() & seen[1].keys():
            gains.setdefault(name, []).append(gain(seen[0][name], seen[1][name]))
        print(f"round {number + 1} of {rounds} is over", file=sys.stderr, flush=True)
    rows = [row_of(name, each) for name, each in gains.items()]
    for text, _ in rows:
        print(text)
    return any(is_worse for _, is_worse in rows)


def main():
    p = argparse.ArgumentParser(prog="bench/ab.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("old")
    p.add_argument("new")
    p.add_argument("--rounds", type=int, default=7, help="of the workloads; 0 = instructions only (default: 7)")
    p.add_argument("--only", default="", help="workloads: W1,W2")
    p.add_argument("--data", default="", help="on which disk")
    args = p.parse_args()
    programs = [os.path.abspath(args.old), os.path.abspath(args.new)]
    is_worse = count(programs)
    names = args.only.upper().split(",") if args.only else []
    if args.rounds > 0:
        is_worse |= race(programs, args.rounds, names, args.data)
    return 1 if is_worse else 0


if __name__ == "__main__":
    sys.exit(main())
