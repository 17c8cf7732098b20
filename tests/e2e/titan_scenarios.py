"""The nine ways through Titan that its developer guide follows, as its clients see them: what the guide promises of each
is asked for here, over Titan's protocol (titan_client.py), also where Titan itself does otherwise.

    titan_scenarios.py SCENARIO HOST:PORT DATA_DIRECTORY REEVE_BINARY

TITAN_RESP is where its store is read. Two workers are there, with two slots each; TITAN_WORKERS has their numbers in the
statistics and their processes, as "8081=PID 8082=PID".
"""

import json
import os
import re
import select
import signal
import subprocess
import sys

import titan_client as titan
from titan_client import (CANCEL, DEPLOY, DEPLOY_SCRIPT, GET_LOGS, KV_GET, KV_SET, STATS, STATS_JSON, STATUS, STOP, ask,
                          equal, file_of_test, free_port, get, job, logs, resp, status, submit, unique, until, wait)


def touch(path):
    open(path, "w").close()


def there(*paths):
    return all(os.path.exists(p) for p in paths)


def waits_for(gate):
    """Of a script: until somebody makes that file."""
    return "while [ ! -e %s ]; do sleep 0.02; done" % gate


def workers():
    return json.loads(ask(STATS_JSON))["workers"]


def port_of(job_id):
    """Of the worker that has it, or had it last."""
    return resp("GET", "job:DAG-%s:worker" % job_id)


def stored(job_id):
    return resp("GET", "job:DAG-%s:status" % job_id)


def active(word):
    return sorted(m for m in resp("SMEMBERS", "system:active_jobs") if word in m)


def pids():
    return {port: int(pid) for port, pid in (pair.split("=") for pair in os.environ["TITAN_WORKERS"].split())}


# ---- 1: it is accepted, waits, runs, and is over; its output is there by then

def scenario_1_a_single_script():
    a, gate = unique("one"), file_of_test("gate")
    script = ("import os, sys, time\nprint('argument', sys.argv[1:])\n"
              "while not os.path.exists('%s'): time.sleep(0.02)\nprint('over')\n" % gate)
    submit(job(a, script, name="script.py", args="--n 3"))
    wait(a, "RUNNING")
    equal(stored(a), "RUNNING")
    equal(active(a), ["DAG-" + a])
    touch(gate)
    until(lambda: status(a), "COMPLETED")
    equal(logs(a), "argument ['--n', '3']\nover")  # complete when the status says so
    equal(stored(a), "COMPLETED")
    equal(active(a), [])


# ---- 2: each waits for the one before it

def scenario_2_a_chain():
    a, order = unique("chain"), file_of_test("order")
    names = [a + "A", a + "B", a + "C"]
    gates = [file_of_test("gate") for _ in names]
    submit(*[job(n, "echo begin %s >> %s; %s; echo end %s >> %s" % (n, order, waits_for(g), n, order),
                 parents=[before] if before else [])
             for n, g, before in zip(names, gates, [None] + names)])
    for at, (name, gate) in enumerate(zip(names, gates)):
        wait(name, "RUNNING")
        equal([status(n) for n in names], ["COMPLETED"] * at + ["RUNNING"] + ["PENDING"] * (2 - at))
        touch(gate)
    wait(names[2])
    equal(open(order).read().split("\n")[:-1], [word + " " + n for n in names for word in ("begin", "end")])


# ---- 3: the branches run side by side, on both workers, and the last waits for all of them

def scenario_3_fan_out_and_fan_in():
    a = unique("fan")
    branches = {n: (file_of_test("here"), file_of_test("gate")) for n in (a + "B", a + "C", a + "D")}
    submit(job(a + "A", "echo start"),
           *[job(n, "touch %s; %s; echo result of %s | tee %s" % (here, waits_for(gate), n, here), parents=[a + "A"])
             for n, (here, gate) in branches.items()],
           job(a + "E", "cat " + " ".join(here for here, _ in branches.values()), parents=list(branches)))
    until(lambda: there(*[here for here, _ in branches.values()]), True)  # all three at once
    equal([status(n) for n in branches], ["RUNNING"] * 3)
    equal(len({port_of(n) for n in branches}), 2)
    for name, (_, gate) in branches.items():
        equal(status(a + "E"), "PENDING")
        touch(gate)
        wait(name)
    wait(a + "E")
    equal(logs(a + "E"), "\n".join("result of " + n for n in branches))


# ---- 4: a service lives on, comes back when it crashes, and is stopped for good

SERVICE = """
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(str(os.getpid()).encode())
    def log_message(self, *a): pass
print('serving', flush=True)
http.server.HTTPServer(('127.0.0.1', %d), H).serve_forever()
"""


def services():
    return [s for w in workers() for s in w["services"]]


def scenario_4_a_service():
    name, port, after = unique("viewer") + ".py", free_port(), unique("after")
    equal(ask(DEPLOY_SCRIPT, name + "|" + titan.b64(SERVICE % port)), "DEPLOY_SUCCESS")
    before = services()
    equal(ask(DEPLOY, "%s|%d|GENERAL" % (name, port)), "DEPLOY_QUEUED")
    first = until_other(lambda: get(port), None)
    service = until_other(lambda: [s for s in services() if s not in before], [])[0]
    until(lambda: ask(STATUS, service), "COMPLETED")  # the deployment; the process goes on
    equal(get(port), first)
    equal(ask(GET_LOGS, service), "serving")
    os.kill(int(first), signal.SIGKILL)
    second = until_other(lambda: get(port), (None, first))
    assert second != first
    equal([s for s in services() if s not in before], [service])
    equal(ask(STOP, service), "STOPPED: " + service)
    until(lambda: get(port), None)
    until(lambda: service in services(), False)
    submit(job(after, "true", delay=3500))  # for longer than it takes to bring back one that crashed
    wait(after)
    equal(get(port), None)
    assert not os.path.exists("/proc/" + second), "its process is gone"


def until_other(what, unwanted, seconds=60):
    """Until it is something else."""
    unwanted = unwanted if isinstance(unwanted, tuple) else (unwanted,)
    got = []
    until(lambda: got.append(what()) or got[-1] not in unwanted, True, seconds)
    return got[-1]


# ---- 5: a person decides. The gate is a script that asks the store, as Titan's; who answers it otherwise may

GATE = """
import socket, struct, sys, time
gate = sys.argv[1]
def ask(op, text):
    with socket.create_connection(("%s", %d), timeout=30) as c:
        c.sendall(struct.pack(">BBBBI", 1, op, 0, 0, len(text.encode())) + text.encode())
        f = c.makefile("rb")
        return f.read(struct.unpack(">BBBBI", f.read(8))[4]).decode()
def decided():
    return ask(0x61, "titan:hitl:status:" + gate)
if decided() not in ("APPROVED", "REJECTED"):
    ask(0x60, "titan:hitl:message:" + gate + "|" + " ".join(sys.argv[3:]))
    ask(0x60, "titan:hitl:ts:" + gate + "|" + str(int(time.time() * 1000)))
    ask(0x62, "titan:hitl:queue|" + gate)
    ask(0x60, "titan:hitl:status:" + gate + "|WAITING")
while decided() not in ("APPROVED", "REJECTED"):
    time.sleep(0.1)
sys.exit(decided() != "APPROVED")
"""


def gated(word):
    """As the SDK sends a job with a message for people: the job, the gate behind it, and what is to follow."""
    first, last = unique(word), unique("train")
    gate = "hitl-gate-" + first
    equal(ask(KV_SET, "titan:hitl:status:%s|CLEARED" % gate), "OK")
    submit(job(first, "echo prepared"),
           job(gate, GATE % (titan.HOST, titan.PORT), name="hitl_gate.py", args=gate + " 172800 Look before training",
               parents=[first]),
           job(last, "echo trained", parents=[gate]))
    until(lambda: ask(KV_GET, "titan:hitl:status:" + gate), "WAITING")
    equal(status(first), "COMPLETED")
    equal(status(last), "PENDING")
    assert status(gate) in ("RUNNING", "PENDING"), status(gate)  # nobody has decided
    return gate, last


def scenario_5_a_person_decides():
    gate, last = gated("prepare")
    equal(ask(KV_SET, "titan:hitl:status:%s|APPROVED" % gate), "OK")
    wait(last)
    equal(status(gate), "COMPLETED")
    equal(logs(last), "trained")
    gate, last = gated("doubtful")
    equal(ask(KV_SET, "titan:hitl:status:%s|REJECTED" % gate), "OK")
    wait(gate, "DEAD")
    wait(last, "CANCELLED")  # where the guide lets it wait for ever
    equal(logs(last), "")


# ---- 6: three more tries, then it is given up, and what needs it with it

def dead_letters():
    return int(re.search(r"Dead Letter \(DLQ\): (\d+) jobs", ask(STATS)).group(1))


def scenario_6_failures_are_tried_again():
    a, tries, never, shaky = unique("bad"), file_of_test("tries"), file_of_test("never"), unique("shaky")
    before = dead_letters()
    submit(job(a, "echo x >> %s; echo this went wrong >&2; exit 1" % tries),
           job(a + "B", "touch " + never, parents=[a]), job(a + "C", "touch " + never, parents=[a + "B"]))
    wait(a, "DEAD")
    equal(open(tries).read(), "x\n" * 4)
    equal(logs(a), "\n".join(["this went wrong"] * 4))
    equal((status(a + "B"), status(a + "C")), ("CANCELLED", "CANCELLED"))
    equal((stored(a), stored(a + "B"), stored(a + "C")), ("DEAD", "CANCELLED", "CANCELLED"))
    equal(dead_letters(), before + 1)
    equal(active(a), [])
    assert not os.path.exists(never)
    tries = file_of_test("tries")  # the third time it goes well, and nobody is told of the others
    submit(job(shaky, "echo x >> %s; [ $(wc -l < %s) = 3 ]" % (tries, tries)), job(shaky + "B", "true", parents=[shaky]))
    wait(shaky + "B")
    equal((status(shaky), open(tries).read()), ("COMPLETED", "x\n" * 3))
    equal(dead_letters(), before + 1)


# ---- 7: whoever runs is killed, with all that it started; whoever comes after it never runs

def scenario_7_a_cancel_and_its_descendants():
    a, began, never, mark = unique("parent"), file_of_test("began"), file_of_test("never"), unique("sleeper")
    below = [a + "B", a + "C", a + "D"]  # B and C need it, D needs both
    beside = unique("beside")
    submit(job(a, "(exec -a %s sleep 300) & touch %s; wait" % (mark, began)),
           job(below[0], "touch " + never, parents=[a]), job(below[1], "touch " + never, parents=[a]),
           job(below[2], "touch " + never, parents=below[:2]), job(beside, "%s; echo ran" % waits_for(began)))
    until(lambda: there(began), True)
    equal([status(n) for n in below], ["PENDING"] * 3)
    equal(ask(CANCEL, "DAG-" + a), "CANCELLED")
    wait(a, "CANCELLED")
    equal([status(n) for n in below], ["CANCELLED"] * 3)
    equal([stored(n) for n in [a] + below], ["CANCELLED"] * 4)
    until(lambda: titan.processes(mark), [])
    wait(beside)  # of the same submission, but not of its descent
    equal(logs(beside), "ran")
    equal(active(a), [])
    assert not os.path.exists(never)


# ---- 8: a worker is killed; its jobs run on the other one, and what it comes back as has work again

def scenario_8_a_worker_is_killed():
    a, b, gate, runs = unique("crash"), unique("safe"), file_of_test("gate"), file_of_test("runs")
    script = "echo %s >> " + runs + "; " + waits_for(gate) + "; echo done"
    submit(job(a, script % a), job(a + "child", "echo after", parents=[a]))
    wait(a, "RUNNING")
    until(lambda: there(runs) and open(runs).read(), a + "\n")
    victim = port_of(a)
    os.kill(pids()[victim], signal.SIGKILL)
    until(lambda: open(runs).read(), a + "\n" + a + "\n")  # again, without anybody asking for it
    other = port_of(a)
    assert other != victim, (other, victim)
    until(lambda: [str(w["port"]) for w in workers()], [other])
    submit(job(b, "echo b"))  # the others go on
    wait(b)
    equal(status(a + "child"), "PENDING")
    touch(gate)
    wait(a + "child")
    equal((status(a), open(runs).read()), ("COMPLETED", a + "\n" + a + "\n"))
    assert logs(a).endswith("done"), logs(a)
    equal(logs(a + "child"), "after")
    print("killed", victim)  # the test starts it again


def scenario_8_it_comes_back():
    until(lambda: sorted(str(w["port"]) for w in workers()), sorted(pids()))
    gate, all_of_it = file_of_test("gate"), [unique("full") for _ in range(4)]
    submit(*[job(n, waits_for(gate)) for n in all_of_it])
    for n in all_of_it:  # more at once than one worker takes
        wait(n, "RUNNING")
    equal({port_of(n) for n in all_of_it}, set(pids()))
    touch(gate)
    for n in all_of_it:
        wait(n)


# ---- 9: an agent submits, looks, and reads

class Agent:
    """Lines of JSON-RPC to a program of its own, as MCP wants it."""

    def __init__(self):
        self.process = subprocess.Popen([titan.REEVE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, REEVE_DATA=titan.DATA))
        self.number = 0
        self.ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert select.select([self.process.stdout], [], [], 60)[0], "no answer to " + method
        answer = json.loads(self.process.stdout.readline())
        equal(answer["id"], self.number)
        assert "error" not in answer, answer
        return answer["result"]

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])

    def close(self):
        self.process.stdin.close()
        try:
            equal(self.process.wait(60), 0)
        finally:
            self.process.kill()


def scenario_9_an_agent_submits():
    agent, a = Agent(), unique("analysis")
    parts = [a + str(i) for i in range(3)]
    marks = {n: file_of_test("mark") for n in parts}
    together = ("import os, time\nopen(%r, 'w').write('part of %s')\nend = time.time() + 60\n"
                "while not all(os.path.exists(m) for m in %r):\n    assert time.time() < end\n    time.sleep(0.02)\n"
                "print('analysed')\n")
    jobs = [{"job_id": n, "script_content": together % (marks[n], n, list(marks.values()))} for n in parts]
    jobs.append({"job_id": a + "all", "parents": parts,
                 "script_content": "for m in %r: print(open(m).read())\n" % list(marks.values())})
    got = agent.call("submit_dag_pipeline", dag_name=a, jobs_json=json.dumps(jobs))
    equal((got["status"], got["dag_name"], got["job_count"]), ("submitted", a, 4))
    assert re.fullmatch("mcp-%s-[0-9a-f]{8}" % a, got["agent_run_id"]), got
    until(lambda: agent.call("get_job_status", job_id=a + "all")["status"], "COMPLETED")
    equal(agent.call("get_job_logs", job_id=a + "all")["logs"].split("\n")[:3], ["part of " + n for n in parts])
    for n in parts:
        equal(agent.call("get_job_status", job_id=n)["status"], "COMPLETED")
        equal(agent.call("get_job_logs", job_id=n)["logs"].strip(), "analysed")
        equal((status(n), logs(n)), ("COMPLETED", "analysed"))  # by Titan's protocol, too
    agent.close()


if __name__ == "__main__":
    which, address, titan.DATA, titan.REEVE = sys.argv[1:5]
    titan.HOST, titan.PORT = address.rsplit(":", 1)
    titan.PORT = int(titan.PORT)
    globals()[which]()
