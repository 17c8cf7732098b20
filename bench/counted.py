"""counted.py: the real server with its cost told: instructions (callgrind) or processor time, for the programs beside it.

Seconds mean little on a machine that others use, too; instructions that callgrind counts are the same whatever else runs.
"""
import glob
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "sdk", "python", "src"))

import reeve  # noqa: E402
from reeve import _protocol as protocol  # noqa: E402
from reeve._wire import Op  # noqa: E402

PATIENCE_S = 120
REST_S = 1.5
MEMORY = "/dev/shm"


def until(what, said, step=0.1):
    """Waits for a condition; for a limited time."""
    end = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > end:
            raise SystemExit(f"waited in vain for {said}")
        time.sleep(step)


def cpu_ns(pid):
    """Processor time of all threads that live."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as f:
            total += int(f.read().split()[0])
    return total


def is_busy(pid):
    """Whether a thread runs, would if there were a processor for it, or waits for the disk."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as f:
            if f.read().rsplit(")", 1)[1].split()[0] in "RD":
                return True
    return False


def rests(process):
    """Waits until a process has had nothing to do for a while: also on a machine that lets it wait."""
    seen, since, end = cpu_ns(process.pid), time.monotonic(), time.monotonic() + PATIENCE_S
    while time.monotonic() - since < REST_S:
        time.sleep(0.02)
        now = cpu_ns(process.pid)
        if now != seen or is_busy(process.pid):
            seen, since = now, time.monotonic()
        if since > end:
            raise SystemExit("the server does not come to rest")


class Server:
    """With `counts` under callgrind (with the options `callgrind`), which sleeps until `resume` or for ever; without it as
    it is, or as an argument of the command `under`."""

    def __init__(self, program, folder, counts=True, from_start=True, flags=(), callgrind=(), under=()):
        self.program, self.folder, self.data = program, folder, os.path.join(folder, "data")
        self.counts = counts
        self.log = open(os.path.join(folder, "log"), "wb")
        self.out = os.path.join(folder, "count")
        self.workers = []
        self.light = tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else folder)
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={self.out}",
                    f"--instr-atstart={'yes' if from_start else 'no'}", *callgrind]
        serve = [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0", *flags]
        self.process = subprocess.Popen((valgrind if counts else list(under)) + serve, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        until(self.answers, "the server")
        self.client = reeve.Client(self.line("address"), token=self.line("admin.token"))

    def line(self, name):
        with open(os.path.join(self.data, name), encoding="utf-8") as f:
            return f.readline().strip()

    def answers(self):
        if self.process.poll() is not None:
            raise SystemExit("the server ended, see " + self.log.name)
        try:
            reeve.Client(self.line("address"), token=self.line("admin.token")).close()
            return True
        except (OSError, reeve.Error):
            return False

    def worker(self, slots):
        """A real one. An end that a slow server has not answered after a fifth of a second it writes into a file; under
        callgrind that is every end, a disk took longer for these files than the server for the jobs, and only the server counts."""
        env = dict(os.environ, REEVE_TOKEN=self.line("worker.token"))
        data = os.path.join(self.light.name, f"worker{len(self.workers)}")
        work = [self.program, "worker", "--server", self.line("address"), "--data", data, "--slots", str(slots)]
        self.workers.append(subprocess.Popen(work, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env))
        until(lambda: len(self.client.workers()) == len(self.workers), "the worker")
        return self.workers[-1]

    def control(self, *words):
        subprocess.run(["callgrind_control", *words, str(self.process.pid)], check=True, timeout=PATIENCE_S,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def counted(self):
        """Instructions of the loop's thread since it was asked the last time."""
        before = set(glob.glob(self.out + ".*-01"))
        self.control("--dump")
        (dump,) = set(glob.glob(self.out + ".*-01")) - before
        with open(dump, encoding="utf-8") as f:
            totals = [line for line in f if line.startswith("totals:")]
        return int(totals[0].split()[1])

    def cost_begin(self):
        if self.counts:
            self.control("--instr=on")
            self.counted()
        else:
            self.began = cpu_ns(self.process.pid)

    def cost(self):
        """Since `cost_begin`: instructions of the loop, or nanoseconds of all threads."""
        return self.counted() if self.counts else cpu_ns(self.process.pid) - self.began

    def settles(self, name, number):
        """Waits until a number of the server is what it must become; gives back how often it was asked."""
        end, asked = time.monotonic() + PATIENCE_S, 0
        while True:
            rests(self.process)
            asked += 1
            if self.client.stats()[name] == number:
                return asked
            if time.monotonic() > end:
                raise SystemExit(f"{name} does not become {number}")

    def asking(self):
        """Instructions of one such question."""
        times = 10
        self.counted()
        for _ in range(times):
            self.client.stats()
        return self.counted() // times

    def expects(self, name, number):
        """Asked after counting, as asking costs something, too."""
        seen = self.client.stats()[name]
        if seen != number:
            raise SystemExit(f"{name} is {seen}, not {number}")

    def close(self):
        for process in self.workers + [self.process]:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self.light.cleanup()
        self.log.close()


class Crowd:
    """Many workers in one process: connections that attach, and end at once what they are given. They beat only when they
    are told to, so that what is counted does not depend on how long it took; leases have to last for as long."""

    def __init__(self, server, count, slots):
        self.slots, self.leases = slots, 0
        self.selector = selectors.DefaultSelector()
        self.lost = None
        host, port = server.line("address").rsplit(":", 1)
        token = server.line("worker.token")
        self.links = [self.attach((host, int(port)), token, number) for number in range(count)]
        self.is_closing = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def attach(self, address, token, number):
        link = socket.create_connection(address, timeout=PATIENCE_S)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = protocol.Reader()
        load = {"credit": self.slots}
        hello = protocol.hello(token, "", "growth", "worker")
        attach = {"worker": f"w{number}", "incarnation": 1, "epoch_seen": 0, "info": {"slots": self.slots}, "load": load}
        for op, message in ((Op.HELLO, hello), (Op.ATTACH, attach)):
            link.sendall(protocol.pack(op, message, 1))
            got = []
            while not got:
                data = link.recv(1 << 16)
                if not data:
                    raise SystemExit(f"worker {number} was not let in")
                got = reader.feed(data)
            protocol.check(got[0])
        link.setblocking(True)
        self.selector.register(link, selectors.EVENT_READ, reader)
        return link

    def run(self):
        try:
            while not self.is_closing:
                for key, _ in self.selector.select(0.1):
                    self.hear(key.fileobj, key.data)
        except Exception as e:  # the main thread asks for it
            self.lost = e

    def hear(self, link, reader):
        data = link.recv(1 << 16)
        if not data:
            raise OSError("the server hung up")
        for frame in reader.feed(data):
            if frame.op == Op.ASSIGN:
                ends = [{"attempt": order["attempt"], "outcome": "ok"} for order in frame.message["assignments"]]
                link.sendall(protocol.pack(Op.DONE, {"ends": ends}, 1))
            elif frame.op == Op.LEASE:
                self.leases += 1
            elif frame.op != Op.PING:
                protocol.check(frame)

    def beat(self):
        """All of them, and the last one has its answer."""
        expected = self.leases + len(self.links)
        message = {"load": {"credit": self.slots}, "sent_ms": int(time.monotonic() * 1000)}
        for link in self.links:
            link.sendall(protocol.pack(Op.HEARTBEAT, message, 2))
        until(lambda: self.check() and self.leases >= expected, "the answers to heartbeats", step=0.001)

    def check(self):
        if self.lost is not None:
            raise self.lost
        return True

    def close(self):
        self.is_closing = True
        self.thread.join()
        for link in self.links:
            link.close()
