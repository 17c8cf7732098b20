"""Tasks that the tests serve and submit."""

import asyncio
import os
import sys
import threading
import time

import reeve


@reeve.task
def add(x, y):
    return x + y


@reeve.task
def echo(*args, **kwargs):
    return [list(args), kwargs]


@reeve.task
def noop(item=None):
    return None


@reeve.task(retries=0)
def boom(text):
    print("before")
    print("beside", file=sys.stderr)
    raise ValueError(text)


@reeve.task(retries=5)
def fatal():
    raise reeve.Fatal("nothing helps")


@reeve.task(retries=3, backoff=0)
def third_time():
    number = reeve.current().attempt
    if number < 3:
        raise RuntimeError("attempt %d" % number)
    return number


@reeve.task(retries=0, timeout=0.5)
def endless():
    while True:
        pass


@reeve.task(retries=0)
def spinning():
    """Ends only when it is told to; says so by a key of the store."""
    client = reeve.Client()
    client.kv.set("spinning", reeve.current().job)
    try:
        while True:
            pass
    except reeve.Cancelled:
        client.kv.set("stopped", reeve.current().job)
        raise


@reeve.task(retries=0, kill_grace=0.2)
def deaf():
    """A call into C that no exception reaches."""
    reeve.Client().kv.set("deaf", "yes")
    time.sleep(20)


@reeve.task(retries=3, backoff=0)
def kills_its_worker():
    """The first attempt takes the whole process along."""
    if reeve.current().attempt == 1:
        os.kill(os.getpid(), 9)
    return os.getpid()


@reeve.task(retries=0)
def never_again():
    os.kill(os.getpid(), 9)


@reeve.task
def wait_for_key(key):
    """Returns the value when somebody has set it."""
    client = reeve.Client()
    client.kv.incr("runs:" + key)
    for event in client.kv.watch(key):
        value = client.kv.get(key)
        if value is not None:
            return value.decode()


@reeve.task
async def gather(count):
    results = await asyncio.gather(*(asyncio.sleep(0, i) for i in range(count)))
    return [threading.current_thread().name, sum(results)]


@reeve.task
def big(count):
    return "x" * count


@reeve.task
def length(text):
    return len(text)


@reeve.task(serializer="pickle")
def union(one, other):
    return one | other


@reeve.task
def talk(lines):
    for i in range(lines):
        print("line %d" % i)


@reeve.task(name="short-name")
def renamed():
    return reeve.current().job


@reeve.task(retries=0)
def grows():
    """Adds a job to its own flow, with the rights of its attempt and no others."""
    context = reeve.current()
    with context.client() as client:
        flow = context.job.partition("/")[0]
        client.kv.set("seen", context.job, flow=flow)
        client.add_jobs(flow, {"jobs": {"added": {"handler": "tasks.add", "payload": "[20, 3]", "pool": "python"}}})
        try:
            client.request("token_ls", {})
        except reeve.errors.Forbidden as e:
            return str(e)


class NotATask:
    pass
