"""An agent that grows its own flow, keeps what it learned in the store, and asks before it acts.

It can be killed at any time and started again with the same name: it goes on where it was.

    python3 examples/python/agent.py my-run
"""

import json
import sys

import reeve

PLAN = ["look", "measure", "fix"]


def main(run: str) -> None:
    client = reeve.default_client()
    flow = reeve.Flow("agent-" + run, key="agent-" + run)  # the key: the same run is the same flow
    previous = flow.job("begin", noop=True)
    flow.job("end", external="the agent is done")
    flow.submit()

    there = {view["job"].partition("/")[2] for view in flow.jobs()}  # also what an earlier life of ours added
    notes = json.loads(client.kv.get("notes", flow=flow) or b"[]")
    for number, step in enumerate(PLAN):
        if step in there:
            job = flow[step]
        else:
            asks = {"approval": "may I fix it?"} if step == "fix" else {}
            job = flow.job(step, ["echo", "%s after %s" % (step, notes)], needs=[previous], **asks)
            flow.submit()
        if step == "fix":
            print("waits for `reeve approve`", flush=True)
        job.wait()
        if number >= len(notes):
            notes.append(step)
            client.kv.set("notes", json.dumps(notes), flow=flow)
        print(job.logs(), end="", flush=True)
        previous = job
    client.complete("%s/end" % flow, {"notes": notes})
    print(flow.wait().state)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "demo")
