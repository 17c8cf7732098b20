"""Rounds: every system in turn, again and again; then once more, with fewer operations, while syncs are counted."""
import subprocess
import sys
import time
from dataclasses import asdict

import figures
from lab import Failed, Lab
from table import Plan

TROUBLE = (Failed, OSError, subprocess.SubprocessError, ValueError, KeyError, AttributeError, RuntimeError)


def say(text):
    print(text, file=sys.stderr, flush=True)


def why(error):
    return str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"


def started(lab, peers, workload, not_run):
    ready = []
    for each in peers:
        if each.does(workload):
            peer = each(lab)
            try:
                peer.start()
                ready.append(peer)
            except TROUBLE as error:
                not_run[each.name] = why(error)
                say(f"{workload.name} {each.name}: not run: {why(error)}")
    return ready


def asked(peer, plan):
    """What a peer measured, always as a list."""
    got = getattr(peer, plan.workload.op)(plan)
    return got if isinstance(got, list) else [got]


def row_of(rows, peer, shape):
    for row in rows:
        if (row["name"], row["shape"]) == (peer.name, shape):
            return row
    rows.append({"name": peer.name, "shape": shape, "durable": peer.durable, "values": [], "operations": [], "targets": [],
                 "own_syncs_per_1000": None, "syncs_per_1000": None})
    return rows[-1]


def keep(result, peer, got):
    """The floor of a workload is that of its first shape."""
    for number, one in enumerate(got):
        row = row_of(result["rows"], peer, one.shape)
        row["values"].append(one.value)
        row["operations"].append(one.operations)
        row["own_syncs_per_1000"] = figures.per_thousand(one.own_syncs, one.operations)
        if one.target:
            row["targets"].append(one.target)
        if one.floor and number == 0:
            result["floors"].append(one.floor)


def drop(result, peer, reason):
    """A system that fails once has no figure."""
    result["rows"] = [row for row in result["rows"] if row["name"] != peer.name]
    result["not_run"][peer.name] = reason


def measure(workload, peers, disk, rounds, quick, disk_speed=1.0, seconds=float("inf"), end=float("inf")):
    """As many rounds as are asked for, or as begin in so many seconds; at least one, but for who has not begun it at `end`."""
    rounds, began = min(rounds, workload.rounds_max), time.monotonic()
    result = {**asdict(workload), "seconds": Plan(workload, quick).seconds, "rounds": 0,
              "more_is_better": workload.more_is_better, "rows": [], "floors": [], "not_run": {}}
    with Lab(disk, quick) as lab:
        ready = started(lab, peers, workload, result["not_run"])
        for i in range(rounds):
            if i and time.monotonic() - began > seconds:
                say(f"{workload.name}: {i} of {rounds} rounds, its time is up")
                break
            result["rounds"] = i + 1
            for peer in list(ready):
                if i == 0 and time.monotonic() > end:
                    drop(result, peer, "the time of the run was up")
                    ready.remove(peer)
                    continue
                try:
                    got = asked(peer, Plan(workload, quick, disk=disk_speed))
                    keep(result, peer, got)
                    say(f"{workload.name} round {i + 1} of {rounds}: {peer.name} {figures.number(got[0].value)} {workload.unit}")
                except TROUBLE as error:
                    drop(result, peer, why(error))
                    ready.remove(peer)
                    say(f"{workload.name} {peer.name}: not run: {why(error)}")
        for peer in ready:
            try:
                peer.stop()
            except TROUBLE as error:
                say(f"{peer.name} did not stop: {why(error)}")
    return result


def count_syncs(results, peers, workloads, disk, quick, end=float("inf")):
    """Into the rows that are there."""
    for each in peers:
        if time.monotonic() > end:
            say(f"{each.name}: syncs not counted: the time of the run was up")
            continue
        rows = {workload.name: row for workload in workloads
                if workload.counted and each.does(workload) and workload.name not in each.uncounted
                for result in results if result["name"] == workload.name for row in result["rows"] if row["name"] == each.name}
        if not each.counts_syncs or not rows:
            continue
        try:
            with Lab(disk, quick, trace=True) as lab:
                peer = each(lab)
                peer.start()
                for workload in workloads:
                    if workload.name in rows:
                        before = lab.syncs()
                        got = asked(peer, Plan(workload, quick, is_counted=True))[0]
                        syncs = got.traced if got.traced is not None else lab.syncs() - before
                        rows[workload.name]["syncs_per_1000"] = figures.per_thousand(syncs, got.operations)
                        say(f"{workload.name} {each.name}: {syncs} syncs, {got.operations} operations")
        except TROUBLE as error:
            say(f"{each.name}: syncs not counted: {why(error)}")
