"""The tasks of Celery, and who asks for them (systems/celery.py). CELERY_PORT is that of Redis."""
import os
import time

import redis
from agent import serve, timed
from celery import Celery

PORT = int(os.environ["CELERY_PORT"])
DRAIN_S = 170

app = Celery("bench", broker=f"redis://127.0.0.1:{PORT}/0", backend=f"redis://127.0.0.1:{PORT}/1")
app.conf.worker_prefetch_multiplier = 128


@app.task(name="noop")
def noop():
    return None


def warm():
    noop.apply_async(queue="trips").get(timeout=60)


def round_trip(count):
    def trips():
        for _ in range(count):
            noop.apply_async(queue="trips").get(timeout=60)
    return timed(trips)


def drain(count):
    """Over when every result is stored."""
    results = redis.Redis(port=PORT, db=1)
    results.flushdb()
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(count):
            noop.apply_async(queue="drain", producer=producer)

    def through():
        app.control.add_consumer("drain", reply=True, timeout=60, limit=1)
        end = time.monotonic() + DRAIN_S
        while results.dbsize() < count:
            if time.monotonic() > end:
                raise RuntimeError(f"{results.dbsize()} of {count} results after {DRAIN_S} s")
            time.sleep(0.005)
    took = timed(through)
    app.control.cancel_consumer("drain", reply=True, timeout=60, limit=1)
    return took


if __name__ == "__main__":
    serve({"warm": warm, "round_trip": round_trip, "drain": drain})
