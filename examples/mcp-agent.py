#!/usr/bin/env python3
"""An agent that grows its own flow, asks a person, and can be killed at any moment.

    examples/mcp-agent.py RUN TEXT...       # start it; kill it; start it again with the same RUN

It speaks the Model Context Protocol with `reeve mcp`, as a model's program would, and needs nothing but Python. What it
has decided lives in Reeve, not in it: the flow is submitted with a key, so submitting it again finds it; what the
flow looks like tells how far the run has come. `reeve approve` is where the person decides.
"""
import json
import os
import subprocess
import sys


class Reeve:
    """The tools of a Reeve server, over `reeve mcp`."""

    def __init__(self):
        program = os.environ.get("REEVE_EXE", "reeve")
        self.process = subprocess.Popen([program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "agent", "version": "1"})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            sys.exit("agent: " + answer["error"]["message"])
        return answer["result"]

    def call(self, tool, **arguments):
        """The result of a tool; None when it refused."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        return None if result.get("isError") else result["structuredContent"]

    def wait(self, target):
        while True:
            got = self.call("wait", target=target, timeout_s=60)
            if got and got["over"]:
                return got


def say(text):
    print(text, flush=True)


# The first step looks at the matter; the gate keeps the flow open until a person has decided.
LOOK = """
import json, os, sys
json.dump({"words": sorted(set(sys.argv[1].split()))}, open(os.environ["REEVE_OUTPUT"], "w"))
"""
COUNT = """
import json, os, sys
json.dump({"word": sys.argv[1], "letters": len(sys.argv[1])}, open(os.environ["REEVE_OUTPUT"], "w"))
"""
REPORT = """
import json, os
found = json.load(open(os.environ["REEVE_INPUTS"]))
print(len(found), "words,", sum(one["letters"] for one in found.values()), "letters")
"""


def python(text, *args, **more):
    return {"script": {"text": text, "name": "step.py", "args": list(args)}, **more}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    run, text = sys.argv[1], " ".join(sys.argv[2:])
    reeve = Reeve()

    flow = reeve.call(
        "submit",
        key="mcp-agent-" + run,
        flow={
            "name": "mcp-agent",
            "labels": {"agent_run_id": run},
            "jobs": {"look": python(LOOK, text), "decide": {"gate": {"message": "publish the report about: " + text}}},
        },
    )
    if flow is None:
        sys.exit("agent: another text was submitted as this run")
    flow = flow["flow"]
    say(f"{run} is {flow}")

    # It decides what to do from what was found, and adds that to its own flow, once.
    reeve.wait(f"{flow}/look")
    words = reeve.call("show", target=f"{flow}/look")["result"]["words"]
    steps = {f"count-{i}": python(COUNT, word, needs="look") for i, word in enumerate(words)}
    steps["report"] = python(REPORT, needs=list(steps))
    steps["publish"] = {"run": "echo published", "needs": ["report", "decide"]}
    if reeve.call("show", target=f"{flow}/publish") is None:
        reeve.call("add", flow=flow, jobs=steps)
    say(f"it has {len(words)} words to count")

    # What a person has to decide about is there: now it is asked.
    reeve.wait(f"{flow}/report")
    say("the report: " + reeve.call("logs", job=f"{flow}/report")["text"].strip())
    say(f"waiting for: reeve approve {flow}/decide")
    end = reeve.wait(flow)
    say("it ended: " + end["state"])
    sys.exit(0 if end["state"] == "succeeded" else 1)


main()
