"""Tasks: functions that run as durable jobs, in a worker that is warm.

    reeve up --detach
    cd examples/python && export PYTHONPATH=../../sdk/python/src REEVE_DATA=../../.reeve
    python3 -m reeve.worker tasks &
    python3 tasks.py
"""

import reeve


@reeve.task(retries=3, timeout="1m")
def words(text):
    print("counting", text)
    return len(text.split())


@reeve.task
def total(counts):
    return sum(counts)


@reeve.task
async def shout(text):
    return text.upper() + "!"


if __name__ == "__main__":
    with reeve.Flow("word-count") as f:
        counts = words.map(["one", "one two", "one two three"])
        result = total.submit(counts)
        loud = shout.submit("done")
    f.submit().wait()
    print(result.result(), loud.result())
