"""Asks a Reeve for functions of Python (systems/reeve.py)."""
import reeve
import tasks
from agent import serve, timed

client = reeve.Client()
reeve.set_default_client(client)


def round_trip(count):
    def trips():
        for i in range(count):
            tasks.noop.submit(i).result(timeout=60)
    return timed(trips)


def drain(count):
    client.pause("default", "tenant")
    flow = tasks.noop.map(range(count))[0].flow

    def through():
        client.resume("default", "tenant")
        flow.wait(timeout=170)
    return timed(through)


serve({"warm": lambda: tasks.noop.submit(0).result(timeout=60) or {}, "round_trip": round_trip, "drain": drain})
