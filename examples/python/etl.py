"""A flow as code: commands and scripts in a graph, with a person in the middle.

    reeve up --detach
    PYTHONPATH=sdk/python/src python3 examples/python/etl.py
"""

import reeve

with reeve.Flow("etl", labels={"team": "data"}, defaults={"retries": 2, "timeout": "5m"}) as f:
    extract = f.job("extract", "printf 'a 1\nb 2\nc 3\n' > rows.txt; wc -l < rows.txt > $REEVE_OUTPUT", artifacts=["rows.txt"])
    clean = f.job("clean", "grep -v b rows.txt > clean.txt", needs=[extract], inputs={"rows.txt": "extract/rows.txt"},
                  artifacts=["clean.txt"])
    review = f.job("review", gate="is ${jobs.extract.outputs} rows what you expect?", needs=[extract, clean])
    load = f.job("load", ["echo", "loaded"], needs=[review])

f.submit()
clean.wait()
print("to be loaded:", clean.artifact("clean.txt").decode().split())
review.approve(reason="looks right")  # or `reeve approve`, or the console
f.wait()
print(load.logs(), end="")
