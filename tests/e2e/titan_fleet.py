#!/usr/bin/env python3
"""Titan's own workers (titan_worker.py) as members of a Reeve cluster, used by clients of Titan's protocol. Everything
here but the server is written from the description of Titan.

    titan_fleet.py REEVE_BINARY CASE...
"""
import base64
import io
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

HEADER = struct.Struct(">BBBBI")
PATIENCE = 60
HERE = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def reachable(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


def until(fact, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while True:
        got = fact()
        if got:
            return got
        assert time.monotonic() < end, what
        select.select([], [], [], 0.02)


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


class Cluster:
    def __init__(self, binary):
        self.binary = binary
        self.dir = tempfile.mkdtemp(prefix="reeve-fleet-")
        self.data = os.path.join(self.dir, "data")
        self.port = free_port()
        self.workers = []
        self.log = open(os.path.join(self.dir, "log"), "wb")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--titan-listen",
             f"127.0.0.1:{self.port}", "--lease-ms", "2500", "--heartbeat-ms", "250"], stderr=self.log)
        until(lambda: reachable(self.port), "the server does not listen")

    def close(self):
        for w in self.workers:
            w.end()
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def worker(self, *args, **env):
        w = Worker(self, args, env)
        self.workers.append(w)
        return w

    def ask(self, op, body=b""):
        body = body.encode() if isinstance(body, str) else body
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as sock:
            sock.sendall(HEADER.pack(1, op, 0, 0, len(body)) + body)
            data = b""
            while len(data) < 8:
                more = sock.recv(8 - len(data))
                assert more, "closed without an answer"
                data += more
            _, reply, _, _, size = HEADER.unpack(data)
            text = b""
            while len(text) < size:
                text += sock.recv(size - len(text))
            return reply, text.decode()

    def run(self, job, script, name="job.sh", args="", need="GENERAL", parents="", priority=1):
        b64 = base64.b64encode(script.encode()).decode()
        equal(self.ask(0x04, f"{job}|RUN_PAYLOAD|{name}|{args}|{b64}|{need}|{priority}|0|[{parents}]"),
              (0x50, "DAG_ACCEPTED"))

    def status(self, job):
        return self.ask(0x55, f"DAG-{job}")[1]

    def ends(self, job, how="COMPLETED"):
        until(lambda: self.status(job) == how, f"{job} does not become {how}: it is {self.status(job)}\n" )

    def logs(self, job):
        return self.ask(0x16, f"DAG-{job}")[1]

    def stats(self):
        return json.loads(self.ask(0x09)[1])

    def cli(self, *args, **options):
        return subprocess.run([self.binary, *args, "--data", self.data], capture_output=True, text=True, timeout=PATIENCE,
                              **options)


class Worker:
    def __init__(self, cluster, args, env):
        self.cluster = cluster
        self.dir = tempfile.mkdtemp(prefix="worker-", dir=cluster.dir)
        self.args, self.env = args, env
        self.start()

    def start(self, port=0):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "titan_worker.py"), f"127.0.0.1:{self.cluster.port}", self.dir,
             *self.args], stdout=subprocess.PIPE, stderr=self.cluster.log, text=True, start_new_session=True,
            env={**os.environ, "LISTEN_PORT": str(port), **self.env})
        self.port = int(self.process.stdout.readline())

    def joins(self):
        until(lambda: any(w["port"] == self.port for w in self.cluster.stats()["workers"]), "it does not join")
        return self

    def notes(self, begin=""):
        try:
            with open(os.path.join(self.dir, "notes")) as f:
                return [line.strip() for line in f if line.startswith(begin)]
        except FileNotFoundError:
            return []

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        for pid in self.notes("pid"):  # whatever it started lives on, as there
            try:
                os.killpg(int(pid.split()[1]), signal.SIGKILL)
            except ProcessLookupError:
                pass


# ---- cases ----

def golden(c):
    equal(c.ask(0x02, "x||GENERAL||false"), (0x51, 'SERVER_ERROR: For input string: "x"'))
    equal(c.ask(0x02, ""), (0x51, 'SERVER_ERROR: For input string: ""'))
    equal(c.ask(0x02, "70000||GENERAL||false"), (0x51, 'SERVER_ERROR: For input string: "70000"'))
    equal(c.ask(0x02, f"{free_port()}||GENERAL||false"), (0x50, "REGISTERED"))  # nobody is there: it never joins
    equal(c.ask(0x12, "nobody|COMPLETED|x"), (0x50, "ACK_CALLBACK"))
    equal(c.ask(0x12, ""), (0x50, "ACK_CALLBACK"))
    equal(c.ask(0x15, "nobody|line"), (0x50, "ACK_LOG"))
    equal(c.ask(0x17, "nobody|a\nb"), (0x50, "ACK_BATCH"))
    equal(c.ask(0x0A, "nobody"), (0x50, "ACK_UNREGISTERED"))
    equal(c.stats()["workers"], [])


def member(c):
    w = c.worker().joins()
    seen = c.stats()["workers"]
    equal([(x["port"], x["capabilities"], x["load"]) for x in seen], [(w.port, "[GENERAL]", "0/4")])
    for i in range(12):  # equal names must not mix, though that worker keeps them in one folder
        c.run(f"j{i}", f"echo I am {i} $1\n", args=f"arg{i}")
    for i in range(12):
        c.ends(f"j{i}")
        equal(c.logs(f"j{i}"), f"I am {i} arg{i}")
    c.run("py", "import sys\nprint('python', sys.argv[1:])\n", name="p.py", args="a b")
    c.ends("py")
    equal(c.logs("py"), "python ['a', 'b']")
    before = len(w.notes("start"))
    c.run("bad", "echo trying; exit 3\n")
    c.ends("bad", "DEAD")
    equal(len(w.notes("start")) - before, 4)  # one try and three more
    c.run("one", "echo first\n")
    c.run("two", "echo second\n", parents="one")
    c.ends("two")
    equal(c.status("one"), "COMPLETED")


def not_for_others(c):
    c.worker().joins()
    flow = os.path.join(c.dir, "flow.yaml")
    with open(flow, "w") as f:
        f.write("jobs: {a: 'true'}\n")
    got = c.cli("submit", flow)
    equal(got.returncode, 0)
    c.run("mine", "echo mine\n")
    c.ends("mine")  # it is there and well
    why = c.cli("why", got.stdout.split()[0] + "/a")
    assert "ready" in why.stdout, why.stdout + why.stderr
    with open(flow, "w") as f:  # whoever asks for that pool and for too much is told so
        f.write("jobs: {a: {pool: titan, retries: 0, script: {name: a.sh, text: echo}, env: {A: b}}}\n")
    got = c.cli("submit", flow, "--wait")
    shown = c.cli("show", got.stdout.split()[0], "--json")
    assert "an environment of its own" in shown.stdout, shown.stdout + shown.stderr


def killed(c):
    a, b = c.worker().joins(), None
    go = os.path.join(c.dir, "go")
    c.run("long", f"echo begun; while [ ! -e {go} ]; do sleep 0.05; done; echo done\n")
    until(lambda: a.notes("start"), "it does not start")
    b = c.worker().joins()
    a.end()
    until(lambda: b.notes("start"), "it is not run elsewhere")
    open(go, "w").close()
    c.ends("long")
    assert c.logs("long").endswith("begun\ndone"), c.logs("long")


def stopped(c):
    a = c.worker().joins()
    hold = os.path.join(c.dir, "hold")
    for i in range(2):
        c.run(f"on-a{i}", f"while [ ! -e {hold} ]; do sleep 0.05; done; echo over\n")
    until(lambda: len(a.notes("start")) == 2, "they do not start")
    b = c.worker().joins()
    a.process.send_signal(signal.SIGSTOP)
    for i in range(8):  # nobody else is delayed, though some of these are given to the one that stands still
        c.run(f"n{i}", "echo quick\n")
    for i in range(8):
        c.ends(f"n{i}")
    until(lambda: len(b.notes("start")) >= 10, "what it ran is not run elsewhere")
    open(hold, "w").close()
    for i in range(2):
        c.ends(f"on-a{i}")
    a.process.send_signal(signal.SIGCONT)  # late words of an attempt that was given up change nothing
    until(lambda: not any(w["load"] != "0/4" for w in c.stats()["workers"]), "somebody still holds something")
    for i in range(2):
        equal(c.status(f"on-a{i}"), "COMPLETED")
    c.run("after", "echo back\n")
    c.ends("after")


def forgotten(c):
    """A worker that was killed and started again at once, at the same port, knows nothing of its jobs."""
    a = c.worker().joins()
    go = os.path.join(c.dir, "go")
    c.run("long", f"while [ ! -e {go} ]; do sleep 0.05; done; echo done\n")
    until(lambda: a.notes("start"), "it does not start")
    port = a.port
    a.end()
    a.start(port)
    until(lambda: len(a.notes("start")) == 2, "it is not run again")
    open(go, "w").close()
    c.ends("long")


def services(c):
    w = c.worker(REGISTER_SECONDS="0.2").joins()
    port = free_port()
    script = ("import http.server, os\n"
              f"http.server.HTTPServer(('127.0.0.1', {port}), http.server.SimpleHTTPRequestHandler).serve_forever()\n")
    b64 = base64.b64encode(script.encode()).decode()
    equal(c.ask(0x04, f"api|DEPLOY_PAYLOAD|srv.py|{b64}|{port}|GENERAL|1|0|[]"), (0x50, "DAG_ACCEPTED"))
    c.ends("api")
    assert reachable(port)
    before = len(w.notes("register"))
    until(lambda: len(w.notes("register")) >= before + 5, "it does not register again")
    equal([x["services"] for x in c.stats()["workers"]], [["DAG-api"]])
    equal(len(w.notes("service")), 1)
    equal(c.ask(0x07, "DAG-api"), (0x50, "STOPPED: DAG-api"))
    until(lambda: not reachable(port), "it is not stopped")


def stop_in_a_pause(c):
    """A worker does not know a service that it is about to start again: it has to be stopped all the same."""
    w = c.worker(CRASH_PAUSE_SECONDS="1.5").joins()
    port = free_port()
    script = ("import http.server\n"
              f"http.server.HTTPServer(('127.0.0.1', {port}), http.server.SimpleHTTPRequestHandler).serve_forever()\n")
    b64 = base64.b64encode(script.encode()).decode()
    equal(c.ask(0x04, f"api|DEPLOY_PAYLOAD|srv.py|{b64}|{port}|GENERAL|1|0|[]"), (0x50, "DAG_ACCEPTED"))
    c.ends("api")
    os.kill(int(w.notes("pid")[0].split()[-1]), signal.SIGKILL)
    until(lambda: len(w.notes("crash")) == 1, "its end is not seen")
    equal(c.ask(0x07, "DAG-api"), (0x50, "STOPPED: DAG-api"))
    until(lambda: len(w.notes("stop")) == 1, "it is not stopped")
    assert not reachable(port)


def archives(c):
    c.worker().joins()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("app/main.py", "import helper\nprint(helper.word)\n")
        z.writestr("app/helper.py", "word = 'helped'\n")
    equal(c.ask(0x53, b"proj.zip|" + base64.b64encode(out.getvalue())), (0x50, "UPLOAD_SUCCESS"))
    equal(c.ask(0x04, "z|RUN_ARCHIVE|proj.zip/app/main.py||GENERAL|1|0|[]"), (0x50, "DAG_ACCEPTED"))
    c.ends("z")
    equal(c.logs("z"), "helped")


def saturated(c):
    """It is full with somebody else's jobs: ours wait, and lose no try by it."""
    w = c.worker().joins()
    go = os.path.join(c.dir, "go")
    with socket.create_connection(("127.0.0.1", w.port)) as sock:
        def tell(op, body):
            sock.sendall(HEADER.pack(1, op, 0, 0, len(body)) + body)
            head = b""
            while len(head) < 8:
                head += sock.recv(8 - len(head))
            size = HEADER.unpack(head)[4]
            text = b""
            while len(text) < size:
                text += sock.recv(size - len(text))
            return text
        tell(0x0C, b"o.sh|" + base64.b64encode(f"while [ ! -e {go} ]; do sleep 0.05; done\n".encode()))
        for i in range(4):
            equal(tell(0x06, b"other%d|o.sh|" % i), b"JOB_ACCEPTED")
        c.run("mine", "echo mine\n")
        until(lambda: c.status("mine") == "RUNNING", "it is not given to the worker")
        equal(tell(0x06, b"x|o.sh|"), b"ERROR_WORKER_SATURATED")
    open(go, "w").close()
    c.ends("mine")
    equal(len(w.notes("start DAG-")), 1)
    equal(c.logs("mine"), "mine")


def output(c):
    c.worker().joins()
    c.run("many", "seq 1 20000\n")
    c.run("big", "import sys\nfor i in range(12 * 1024): print('%07d' % i + 'x' * 1016)\n", name="big.py")
    c.ends("many")
    lines = c.logs("many").split("\n")
    equal([int(x) for x in lines], list(range(1, 20001)))
    c.ends("big")
    lines = c.logs("big").split("\n")
    equal([int(x[:7]) for x in lines], list(range(12 * 1024)))


def cancelled(c):
    w = c.worker().joins()
    c.run("long", "echo begun; sleep 1000\n")
    c.run("child", "echo never\n", parents="long")
    until(lambda: w.notes("start"), "it does not start")
    equal(c.ask(0x56, "DAG-long"), (0x50, "CANCELLED"))
    c.ends("long", "CANCELLED")
    c.ends("child", "CANCELLED")
    until(lambda: w.notes("cancel"), "the worker is not told")
    equal(len(w.notes("start")), 1)
    c.run("next", "echo next\n")
    c.ends("next")


def capabilities(c):
    g = c.worker("GPU,HIGH_MEM").joins()
    c.run("plain", "echo plain\n")
    c.run("gpu", "echo gpu\n", need="GPU")
    c.ends("gpu")
    equal(c.status("plain"), "PENDING")  # nobody is there for it, and it blocks nobody
    c.run("gpu2", "echo gpu\n", need="HIGH_MEM", priority=1)
    c.ends("gpu2")
    w = c.worker().joins()
    c.ends("plain")
    equal((len(g.notes("start")), len(w.notes("start"))), (2, 1))


def end_worker(c):
    w = c.worker().joins()
    equal(c.ask(0x11, f"127.0.0.1|{w.port}"), (0x50, f"SUCCESS: Worker {w.port} and 0 services shut down."))
    w.process.wait(timeout=PATIENCE)
    equal(w.notes("killed"), ["killed"])
    until(lambda: not c.stats()["workers"], "it is still there")


def own_hand(c):
    """A Reeve worker that works for a Titan master may have a Reeve server for one."""
    data = os.path.join(c.dir, "hand")
    hand = subprocess.Popen([c.binary, "worker", "--titan-master", f"127.0.0.1:{c.port}", "--titan-listen", "0", "--data",
                             data], stderr=c.log)
    try:
        until(lambda: len(c.stats()["workers"]) == 1, "it does not join")
        for i in range(10):
            c.run(f"h{i}", f"echo hand {i}\n")
        for i in range(10):
            c.ends(f"h{i}")
            equal(c.logs(f"h{i}"), f"hand {i}")
    finally:
        hand.kill()
        hand.wait()


def custom_types(c):
    """A job of a type that is none of Titan's goes to a worker of ours that has a program for it."""
    c.worker().joins()
    config = os.path.join(c.dir, "worker.yaml")
    with open(config, "w") as f:
        f.write("handlers: {RESIZE: [sh, -c, 'echo resized $0; echo input $(cat)']}\n")
    equal(c.ask(0x04, "early|RESIZE|cat.png,80|1|0|[]"), (0x50, "DAG_ACCEPTED"))
    own = subprocess.Popen([c.binary, "worker", "--config", config, "--data", os.path.join(c.dir, "own")], stderr=c.log,
                           env={**os.environ, "REEVE_DATA": c.data})
    try:
        c.ends("early")
        assert "resized cat.png,80" in c.logs("early"), c.logs("early")
        assert "input cat.png,80" in c.logs("early"), c.logs("early")
    finally:
        own.kill()
        own.wait()


def server_killed(c):
    """The server is killed while a job runs there: the worker comes back by itself, what it still ran is ended, because
    nobody would hear of it, and run again."""
    w = c.worker(REGISTER_SECONDS="0.5").joins()
    go = os.path.join(c.dir, "go")
    c.run("long", f"while [ ! -e {go} ]; do sleep 0.05; done; echo done\n")
    until(lambda: w.notes("start"), "it does not start")
    c.process.kill()
    c.process.wait()
    c.start()
    w.joins()
    until(lambda: w.notes("cancel"), "what it still runs is not ended")
    until(lambda: len(w.notes("start")) == 2, "it is not run again")
    open(go, "w").close()
    c.ends("long")
    equal(len(w.notes("start")), 2)


CASES = [golden, member, not_for_others, killed, stopped, forgotten, services, stop_in_a_pause, archives, saturated, output, cancelled,
         capabilities, end_worker, own_hand, custom_types, server_killed]

if __name__ == "__main__":
    chosen = [x for x in CASES if x.__name__ in sys.argv[2:] or len(sys.argv) == 2]
    assert chosen, "no such case"
    for case in chosen:
        cluster = Cluster(os.path.abspath(sys.argv[1]))
        try:
            case(cluster)
            print("ok", case.__name__, flush=True)
        except BaseException:
            sys.stderr.write(open(cluster.log.name, errors="replace").read()[-4000:])
            raise
        finally:
            cluster.close()
