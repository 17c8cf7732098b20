"""Plays Titan's clients at gates for people (`hitl_message`), from the description of Titan alone, as titan_client.py does.

    titan_gates.py CASE HOST:PORT DATA_DIRECTORY REEVE_BINARY
"""

import json
import os
import socket
import subprocess
import sys
import time

import titan_client as t
from titan_client import CANCEL, KV_GET, KV_SET, KV_SMEMBERS, STATS_JSON, ask, equal, file_of_test, job, logs, \
    reeve, resp, status, submit, unique, until, wait

MESSAGE = "Review, before training: größer?"
NOTE = "gates.json"


# ---- as the SDK writes a gate, and as its script would wait

def polling_script():
    return """
import socket, struct, sys, time
gate, left, message = sys.argv[1], float(sys.argv[2]), " ".join(sys.argv[3:])

def ask(op, body):
    with socket.create_connection(("%s", %d), 30) as c:
        c.sendall(struct.pack(">BBBBI", 1, op, 0, 0, len(body.encode())) + body.encode())
        f = c.makefile("rb")
        return f.read(struct.unpack(">BBBBI", f.read(8))[4]).decode()

ask(0x60, "titan:hitl:status:" + gate + "|WAITING")
ask(0x60, "titan:hitl:message:" + gate + "|" + message)
ask(0x62, "titan:hitl:queue|" + gate)
print("polls", flush=True)
end = time.monotonic() + left
while time.monotonic() < end:
    word = ask(0x61, "titan:hitl:status:" + gate)
    if word in ("APPROVED", "REJECTED"):
        sys.exit(word != "APPROVED")
    time.sleep(0.05)
sys.exit(1)
""" % (t.HOST, t.PORT)


def gate_job(gate, parents, seconds=600, message=MESSAGE, name="hitl_gate.py", script="print('this must not run')",
             first=None):
    return job(gate, script, name=name, args="%s %s %s" % (first or gate, seconds, message), parents=parents)


def key(kind, gate=None):
    return "titan:hitl:" + kind + (":" + gate if gate else "")


def word(gate):
    return ask(KV_GET, key("status", gate))


def queue():
    return [g for g in ask(KV_SMEMBERS, key("queue")).split(",") if g]


def decide(gate, what):
    equal(ask(KV_SET, key("status", gate) + "|" + what), "OK")


def gated(a=None, **how):
    """Work, a gate behind it, and work behind that, as the SDK submits it."""
    a = a or unique("a")
    gate, b = "hitl-gate-" + a, a + "b"
    submit(job(a, "true"), gate_job(gate, [a], **how), job(b, "true", parents=[gate]))
    equal(ask(KV_SET, key("status", gate) + "|CLEARED"), "OK")
    return gate, b


def waiting(**how):
    gate, b = gated(**how)
    wait(gate, "RUNNING")
    return gate, b


def asked():
    """What waits for a person: FLOW/JOB and the number of its question."""
    views = [json.loads(line) for line in reeve("approve", "-o", "jsonl").splitlines()]
    return {view["job"]: view["question"] for view in views}


def target(gate):
    found = [j for j in asked() if j.endswith("/DAG-" + gate)]
    equal(len(found), 1)
    return found[0]


def is_approved(gate, b):
    wait(gate)
    wait(b)
    equal((word(gate), gate in queue()), ("APPROVED", False))


def is_over(gate, b, how):
    wait(gate, "DEAD")
    wait(b, "CANCELLED")
    equal((word(gate), gate in queue()), (how, False))


def shown(gate):
    found = [run for w in json.loads(ask(STATS_JSON))["workers"] for run in w["history"] if run["id"] == "DAG-" + gate]
    return [run["status"] for run in found]


# ---- a gate that is a gate of ours

def case_a_gate_holds_no_slot():
    before = int(time.time() * 1000)
    gate, b = waiting()
    equal((word(gate), gate in queue(), ask(KV_GET, key("message", gate))), ("WAITING", True, MESSAGE))
    assert before - 5000 <= int(ask(KV_GET, key("ts", gate))) < before + 120000
    equal(status(b), "PENDING")
    t.run("true")  # on the only slot there is
    equal((status(gate), shown(gate)), ("RUNNING", ["RUNNING"]))
    worker = json.loads(ask(STATS_JSON))["workers"][0]
    equal((worker["load"], worker["active_job"]), ("0/1", None))
    assert MESSAGE in logs(gate), logs(gate)
    target(gate)
    assert MESSAGE in reeve("approve"), reeve("approve")
    decide(gate, "APPROVED")
    is_approved(gate, b)
    equal(shown(gate), ["COMPLETED"])
    assert "approved" in logs(gate), logs(gate)
    assert "this must not run" not in logs(gate)
    equal(resp("GET", "job:DAG-%s:payload" % gate), "RUN_PAYLOAD|hitl_gate.py|%s 600 %s||GENERAL|DAG-%s" %
          (gate, MESSAGE, gate))


def case_every_way_to_approve():
    gate, b = waiting()
    equal(resp("SET", "user:" + key("status", gate), "APPROVED"), "OK")
    is_approved(gate, b)
    gate, b = waiting()
    reeve("kv", "set", "user:" + key("status", gate), "APPROVED")
    is_approved(gate, b)
    gate, b = waiting()
    reeve("approve", "--yes", target(gate))
    equal(word(gate), "APPROVED")  # whoever heard that it is approved reads so
    is_approved(gate, b)


def case_every_way_to_say_no():
    gate, b = waiting()
    decide(gate, "REJECTED")
    is_over(gate, b, "REJECTED")
    assert "rejected" in logs(gate), logs(gate)
    gate, b = waiting()
    reeve("reject", "--reason", "too early", target(gate))
    equal(word(gate), "REJECTED")
    is_over(gate, b, "REJECTED")
    assert "too early" in logs(gate), logs(gate)
    gate, b = waiting(seconds=1)
    is_over(gate, b, "TIMEOUT")
    gate, b = waiting()
    equal(ask(CANCEL, "DAG-" + gate), "CANCELLED")
    wait(gate, "CANCELLED")
    equal((word(gate), gate in queue()), ("CLEARED", False))


def case_the_first_decision_counts():
    gate, b = waiting()
    words = [("SET", "user:" + key("status", gate), w) for w in ("APPROVED", "REJECTED")]
    host, port = os.environ["TITAN_RESP"].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as c:  # both in one piece
        c.sendall(b"".join(b"*3\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(x), x.encode()) for x in w) for w in words))
        f = c.makefile("rb")
        equal((f.readline(), f.readline()), (b"+OK\r\n", b"+OK\r\n"))
    is_approved(gate, b)
    decide(gate, "REJECTED")
    equal((word(gate), status(gate), status(b)), ("APPROVED", "COMPLETED", "COMPLETED"))


def case_what_was_written_before_does_not_count():
    hold, a = file_of_test("hold"), unique("a")
    gate, b = "hitl-gate-" + a, a + "b"
    submit(job(a, "while [ ! -e %s ]; do sleep 0.02; done" % hold), gate_job(gate, [a]), job(b, "true", parents=[gate]))
    decide(gate, "APPROVED")  # nobody has asked yet
    wait(a, "RUNNING")
    equal((status(gate), word(gate), gate in queue()), ("PENDING", "APPROVED", False))
    open(hold, "w").close()
    wait(gate, "RUNNING")
    equal((word(gate), status(b)), ("WAITING", "PENDING"))
    decide(gate, "CLEARED")  # the SDK's own word, which may come late
    equal((word(gate), status(gate)), ("WAITING", "RUNNING"))
    decide(gate, "APPROVED")
    is_approved(gate, b)
    again = gated(a)  # the same names once more: what was decided then was about something else
    wait(gate, "RUNNING")
    equal((word(gate), status(b), gate in queue()), ("WAITING", "PENDING", True))
    decide(gate, "REJECTED")
    is_over(again[0], again[1], "REJECTED")


def case_by_agents():
    def agent(tool, gate_id):
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": tool, "arguments": {"gate_id": gate_id}}})
        got = subprocess.run([t.REEVE, "mcp"], input=line + "\n", env=dict(os.environ, REEVE_DATA=t.DATA), timeout=60,
                             capture_output=True, text=True, check=True).stdout
        return json.loads(json.loads(got)["result"]["content"][0]["text"])
    gate, b = waiting()
    refused = agent("approve_hitl_gate", gate)  # an agent is no person
    equal(refused["code"], "forbidden")
    assert "reeve approve" in refused["message"], refused
    decide(gate, "APPROVED")
    is_approved(gate, b)
    gate, b = waiting()
    equal(agent("reject_hitl_gate", b[:-1])["status"], "rejected")  # by the job before it
    is_over(gate, b, "REJECTED")
    gate, b = waiting(name="other_gate.py", script=polling_script())  # a script, which polls
    until(lambda: word(gate), "WAITING")
    refused = agent("approve_hitl_gate", gate)
    equal(refused["code"], "forbidden")
    assert "APPROVED" in refused["message"], refused
    decide(gate, "APPROVED")
    wait(b)


# ---- what is not

def case_other_scripts_are_scripts():
    gate, b = waiting(name="other_gate.py", script=polling_script())
    until(lambda: word(gate), "WAITING")
    until(lambda: logs(gate), "polls")
    assert gate not in reeve("approve"), "nobody but the script asks"
    decide(gate, "APPROVED")
    wait(b)
    others = [("hitl-gate-" + unique("a"), how) for how in (
        {"first": "hitl-gate-other"}, {"seconds": "soon"}, {"seconds": 0}, {"message": ""}, {"seconds": 10 ** 9})]
    others.append((unique("my-gate"), {}))
    submit(*[gate_job(gate, [], script="print('ran')", **how) for gate, how in others])
    for gate, how in others:
        wait(gate)
        equal((logs(gate), how), ("ran", how))


FORGED = """
name: forged
labels: {dialect: titan}
jobs:
  DAG-%s:
    gate: {message: "may I?", timeout: 1h}
    labels: {titan.id: DAG-%s, titan.gate: %s}
  careful:
    run: "true"
    approval: {message: "may it?", timeout: 1h}
    labels: {titan.id: DAG-%sc, titan.gate: %sc}
"""


def forged_is_not_opened(flow, gate, others):
    def questions():
        return {j: number for j, number in asked().items() if j.startswith(flow + "/")}
    until(lambda: len(questions()), 2 + others)
    before = questions()
    for name, forged in (("DAG-" + gate, gate), ("careful", gate + "c")):
        reeve("kv", "set", "titan:gate:" + forged, "%d 1 1 0" % before[flow + "/" + name])
        decide(forged, "APPROVED")
        equal(word(forged), "APPROVED")  # a key like any other
    equal(questions(), before)
    reeve("cancel", flow)


def case_other_gates_are_not_opened_by_keys():
    gate = "hitl-gate-" + unique("forged")
    path = file_of_test("forged") + ".yaml"
    with open(path, "w") as f:
        f.write(FORGED % (gate, gate, gate, gate, gate))
    forged_is_not_opened(json.loads(reeve("submit", path, "--json"))["flow"], gate, 0)
    real, _ = waiting()
    flow = target(real).split("/")[0]
    gate += "2"
    with open(path, "w") as f:
        f.write(FORGED.replace("name: forged\nlabels: {dialect: titan}\n", "") % (gate, gate, gate, gate, gate))
    reeve("add", flow, path)  # to a flow that did come by the protocol
    forged_is_not_opened(flow, gate, 1)


def case_other_tenants_have_other_keys():
    gate, b = waiting()
    with open(os.path.join(t.DATA, "address")) as f:
        server = f.read().strip()

    def approve_as(role, tenant):
        token = reeve("token", "new", unique("who"), "--role", role, "--tenant", tenant).strip()
        command = [t.REEVE, "kv", "set", "--server", server, "user:" + key("status", gate), "APPROVED"]
        return subprocess.run(command, env=dict(os.environ, REEVE_TOKEN=token), capture_output=True, timeout=60).returncode
    equal(approve_as("submitter", "other"), 0)
    assert approve_as("viewer", "default") != 0
    equal((word(gate), status(gate)), ("WAITING", "RUNNING"))
    equal(approve_as("submitter", "default"), 0)
    is_approved(gate, b)


# ---- across kills; the server is killed and started between two of these

def note(**what):
    with open(os.path.join(t.DATA, NOTE), "w") as f:
        json.dump(what, f)


def noted():
    with open(os.path.join(t.DATA, NOTE)) as f:
        return json.load(f)


def case_it_waits():
    gate, b = waiting()
    note(gate=gate, b=b, ts=ask(KV_GET, key("ts", gate)))


def case_it_still_waits():
    n = noted()
    gate, b = n["gate"], n["b"]
    equal((status(gate), word(gate), gate in queue(), status(b)), ("RUNNING", "WAITING", True, "PENDING"))
    equal((ask(KV_GET, key("message", gate)), ask(KV_GET, key("ts", gate))), (MESSAGE, n["ts"]))
    decide(gate, "APPROVED")
    is_approved(gate, b)


def case_it_is_approved_by_key():
    gate, b = waiting()
    note(gate=gate, b=b)
    decide(gate, "APPROVED")  # and the plug is pulled


def case_it_is_approved_by_us():
    gate, b = waiting()
    note(gate=gate, b=b)
    reeve("approve", "--yes", target(gate))


def case_it_was_approved():
    n = noted()
    is_approved(n["gate"], n["b"])


def case_three_wait():
    """One to be answered by us, one by its key, and one that has not been asked yet."""
    ours, keyed = waiting(), waiting()
    hold, a = file_of_test("hold"), unique("a")
    gate, b = "hitl-gate-" + a, a + "b"
    submit(job(a, "while [ ! -e %s ]; do sleep 0.02; done" % hold), gate_job(gate, [a]), job(b, "true", parents=[gate]))
    decide(gate, "APPROVED")  # too early
    wait(a, "RUNNING")
    note(ours=ours, keyed=keyed, later=(gate, b), hold=hold)


def case_things_happen_without_the_listener():
    """The keys stand still while nobody listens for Titan."""
    n = noted()
    status_key = "user:" + key("status", n["ours"][0])
    reeve("reject", target(n["ours"][0]))
    equal(reeve("kv", "get", status_key).strip(), "WAITING")
    reeve("kv", "set", "user:" + key("status", n["keyed"][0]), "APPROVED")
    target(n["keyed"][0])  # still waits
    open(n["hold"], "w").close()
    until(lambda: any(j.endswith(n["later"][0]) for j in asked()), True)


def case_all_of_it_was_heard():
    n = noted()
    words = [(word(n[which][0]), n[which][0] in queue()) for which in ("ours", "keyed", "later")]
    equal(words, [("REJECTED", False), ("APPROVED", False), ("WAITING", True)])  # before anything else was asked
    is_over(*n["ours"], "REJECTED")
    is_approved(*n["keyed"])
    equal(status(n["later"][0]), "RUNNING")
    decide(n["later"][0], "APPROVED")
    is_approved(*n["later"])


def case_gates_are_scripts():
    gate, b = gated(script="print('ran')")
    wait(b)
    equal(logs(gate), "ran")


if __name__ == "__main__":
    name, address, t.DATA, t.REEVE = sys.argv[1:5]
    t.HOST, t.PORT = address.rsplit(":", 1)
    t.PORT = int(t.PORT)
    globals()["case_" + name]()
