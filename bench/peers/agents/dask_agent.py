"""A cluster of Dask on this machine, and who asks it (systems/dask.py). Each graph has keys of its own: results are kept by
key, and one that is known is not computed."""
import itertools
import os

from agent import serve, timed

runs = itertools.count()


def noop(*_):
    return None


def round_trip(count):
    def trips():
        for _ in range(count):
            client.submit(noop, pure=False).result(timeout=60)
    return timed(trips)


def drain(count):
    """Dask has no queue to fill first: from the submit to the last result."""
    return timed(lambda: wait(client.map(noop, range(count), pure=False), timeout=170))


def fan(count):
    run = next(runs)
    graph = {f"first-{run}": (noop,)}
    middle = [f"middle-{run}-{i}" for i in range(count - 2)]
    graph.update({key: (noop, f"first-{run}") for key in middle})
    graph[f"last-{run}"] = (noop, middle)
    return timed(lambda: client.get(graph, f"last-{run}"))


def chain(count):
    run = next(runs)
    graph = {f"step-{run}-0": (noop,)}
    graph.update({f"step-{run}-{i}": (noop, f"step-{run}-{i - 1}") for i in range(1, count)})
    return timed(lambda: client.get(graph, f"step-{run}-{count - 1}"))


if __name__ == "__main__":
    from distributed import Client, LocalCluster, wait
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1",
                      local_directory=os.getcwd()) as cluster, Client(cluster) as client:
        client.submit(noop, pure=False).result(timeout=60)
        serve({"round_trip": round_trip, "drain": drain, "fan": fan, "chain": chain})
