"""The workloads, once: what is done, with which settings, in which unit. They are those of `reeve bench` (docs/benchmarks.md)."""
from dataclasses import dataclass

PAYLOAD_BYTES = 200
USUAL_SYNCS = 3000.0  # a second


@dataclass(frozen=True)
class Workload:
    name: str
    text: str
    op: str  # the method of a peer that does it
    unit: str
    floor: str
    target: str  # in words; met or missed is what `reeve bench` says of its own figures
    beats: str = ""  # a system that Reeve has to be faster than, too
    clients: int = 1
    flight: int = 1  # requests under way on each connection
    payload: int = 0
    seconds: float = 0.0  # how long a measurement goes on, if it is not until `count` is reached
    count: int = 0  # of the peers; Reeve's own is the one in docs/benchmarks.md
    quick: int = 0  # the same in a quick run
    counted: int = 0  # the same while syncs are counted; 0 = they are not
    rounds_max: int = 99
    waits_for_disk: bool = False  # a slow disk makes `count` smaller, so that a run ends

    @property
    def more_is_better(self):
        return self.unit == "/s"


WORKLOADS = (
    Workload("W1", "durable submit, 1 connection, one at a time", "submit", "/s", "T(1)", "≥ 0.9 T(1)",
             payload=PAYLOAD_BYTES, seconds=1.0, counted=200),
    Workload("W2", "durable submit, 64 connections, one in flight each", "submit", "/s", "T(64)", "≥ 0.8 T(64)",
             beats="Redis list, always", clients=64, payload=PAYLOAD_BYTES, seconds=1.0, counted=640),
    Workload("W4", "a no-op through a worker, one in flight: submit to result", "round_trip", "µs", "2/F",
             "≤ 2/F + 150 µs", count=300, quick=50, counted=50,
             waits_for_disk=True),
    Workload("W5", "queued no-ops are drained by workers that are there already", "drain", "/s", "apply alone",
             "≥ 200,000/s", count=5000, quick=500, counted=300, waits_for_disk=True),
    Workload("W6", "/bin/true, output captured", "processes", "/s", "S", "≥ 0.9 S", count=500, quick=50, counted=50,
             rounds_max=3),
    Workload("W7", "a flow of 10,000 no-ops: 1 → 9,998 → 1, per job", "fan", "µs", "apply alone", "≤ 10 µs", count=10000,
             quick=500),
    Workload("W8", "a chain of 1,000 no-ops, per step", "chain", "µs", "1/F", "≤ 1/F + 150 µs", count=1000, quick=100,
             counted=100),
    Workload("W9", "1,000,000 queued, kill -9, restart to the first job given away", "restart", "s", "apply alone", "≤ 1 s",
             payload=PAYLOAD_BYTES, count=1000000, quick=10000, rounds_max=3),
)


def disk_speed(floors):
    """Of the disk, by the floor F; at most 1."""
    return next((min(1.0, each["value"] / USUAL_SYNCS) for each in floors if each.get("shape") == "F"), 1.0)


@dataclass(frozen=True)
class Plan:
    """What a peer is asked to do once."""
    workload: Workload
    quick: bool = False
    is_counted: bool = False  # the number that `counted` says, whatever time it takes
    disk: float = 1.0  # how fast it is, 1 = a usual one

    @property
    def count(self):
        if self.is_counted:
            return self.workload.counted
        if self.quick:
            return self.workload.quick
        return max(self.workload.quick, int(self.workload.count * (self.disk if self.workload.waits_for_disk else 1.0)))

    @property
    def seconds(self):
        return self.workload.seconds / 5 if self.quick else self.workload.seconds

    @property
    def answers(self):
        """After how many a submit ends; 0 = after `seconds`."""
        return self.workload.counted if self.is_counted else 0
