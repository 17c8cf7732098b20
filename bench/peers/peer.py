"""What a system under test is. A file in systems/ has one class for each way of running it; a method named like the `op` of a
workload makes it take part: submit, round_trip, drain, processes, fan, chain, restart."""
import importlib
import os
import pkgutil
import sys
from dataclasses import dataclass
from typing import Optional

import lab as labs


@dataclass
class Measured:
    value: float  # in the unit of the workload
    operations: int
    shape: str = ""  # what of the workload it is, if there are several
    floor: Optional[float] = None
    target: Optional[float] = None
    own_syncs: Optional[int] = None  # as the system itself counts
    traced: Optional[int] = None  # calls that strace saw


class Peer:
    name = ""
    durable = "no"  # yes, no, or what may be lost
    sync = ""  # what happens before an answer
    settings = ""  # what differs from its defaults, and how it is asked
    only = None  # names of workloads, when it takes part in some of those that it has a method for
    counts_syncs = True  # there is a server whose syncs mean something
    uncounted = frozenset()  # workloads whose syncs are not
    order = 50

    def __init__(self, lab):
        self.lab = lab

    def start(self):
        """Ready to be asked when it returns."""

    def stop(self):
        """Ends what was started; whatever is left the lab ends."""

    def version(self):
        return ""

    @classmethod
    def does(cls, workload):
        return hasattr(cls, workload.op) and (cls.only is None or workload.name in cls.only)


def all_peers():
    """Every class in systems/ that has a name, in order."""
    folder = os.path.join(labs.HERE, "systems")
    sys.path.insert(0, folder)
    found = []
    for module in sorted(each.name for each in pkgutil.iter_modules([folder])):
        for thing in vars(importlib.import_module(module)).values():
            if isinstance(thing, type) and issubclass(thing, Peer) and thing.name and thing not in found:
                found.append(thing)
    return sorted(found, key=lambda each: each.order)


def rate(count, seconds):
    return Measured(count / seconds, count)


def micros(count, seconds):
    return Measured(seconds * 1e6 / count, count)
