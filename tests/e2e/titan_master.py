#!/usr/bin/env python3
"""A Titan master, written from the description of the protocol alone: it listens for workers, asks one of them things,
and checks what it says byte by byte. Nothing here comes from Reeve.

    titan_master.py REEVE_BINARY CASE
"""
import base64
import io
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

HEADER = struct.Struct(">BBBBI")
REPLIES = {0x02: b"REGISTERED", 0x0A: b"ACK_UNREGISTERED", 0x12: b"ACK_CALLBACK", 0x15: b"ACK_LOG", 0x17: b"ACK_BATCH"}
PATIENCE = 60


def frame(op, body=b""):
    return HEADER.pack(1, op, 0, 0, len(body)) + body


def read_all(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise EOFError(data)
        data += more
    return data


def read_frame(sock):
    version, op, _, _, size = HEADER.unpack(read_all(sock, 8))
    assert version == 1
    return op, read_all(sock, size)


class Master:
    """One request a connection, one answer, then it hangs up; frames above 10 MiB end the connection, as Titan does."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Condition()
        self.calls = []  # (op, body), in the order of their coming
        self.open = 0
        self.open_most = 0
        self.deaf = False
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            sock, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        with sock:
            if self.deaf:
                return
            try:
                version, op, _, _, size = HEADER.unpack(read_all(sock, 8))
                if version != 1 or size > 10485760:
                    return
                body = read_all(sock, size)
            except (EOFError, OSError):
                return
            with self.lock:
                if op in (0x15, 0x17, 0x12):
                    self.open += 1
                    self.open_most = max(self.open_most, self.open)
                self.calls.append((op, body))
                self.lock.notify_all()
            reply = REPLIES.get(op, b"UNKNOWN_OPCODE")
            with self.lock:  # before the answer: whoever has it may call again at once
                if op in (0x15, 0x17, 0x12):
                    self.open -= 1
            try:
                for piece in (HEADER.pack(1, 0x50, 0, 0, len(reply)), reply):
                    sock.sendall(piece)
            except OSError:
                pass

    def wait(self, want, what):
        """Until want(calls) is something, which it returns."""
        end = time.monotonic() + PATIENCE
        with self.lock:
            while True:
                found = want(self.calls)
                if found:
                    return found
                assert time.monotonic() < end, f"nothing came of: {what}; {[(hex(o), b[:60]) for o, b in self.calls]}"
                self.lock.wait(1)

    def ended(self, job):
        def look(calls):
            for op, body in calls:
                if op == 0x12 and body.split(b"|", 1)[0] == job:
                    return body
        return self.wait(look, f"the end of {job}")

    def lines(self, job):
        out = []
        with self.lock:
            for op, body in self.calls:
                if op in (0x15, 0x17) and body.split(b"|", 1)[0] == job:
                    out += body.split(b"|", 1)[1].split(b"\n")
        return out

    def count(self, op):
        with self.lock:
            return sum(1 for o, _ in self.calls if o == op)


class Worker:
    def __init__(self, binary, master, *flags):
        self.dir = tempfile.mkdtemp(prefix="reeve-hand-")
        self.log = open(os.path.join(self.dir, "log"), "wb")
        self.process = subprocess.Popen(
            [binary, "worker", "--titan-master", f"127.0.0.1:{master.port}", "--titan-listen", "0",
             "--data", os.path.join(self.dir, "data"), *flags], stderr=self.log, cwd=self.dir)
        self.master = master
        op, body = master.wait(lambda calls: next(((o, b) for o, b in calls if o == 2), None), "registering")
        port, self.capability, self.permanent = body.split(b"||")
        self.port = int(port)

    def dial(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def ask(self, op, body=b""):
        with self.dial() as sock:
            sock.sendall(frame(op, body))
            return read_frame(sock)

    def run(self, job, name, script, args=b""):
        assert self.stage(name, script)[0] == 0x50
        return self.ask(0x06, job + b"|" + name + b"|" + args)

    def stage(self, name, script):
        return self.ask(0x0C, name + b"|" + base64.b64encode(script))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def begins(got, op, text):
    assert got[0] == op and got[1].startswith(text), f"got {got!r}, wanted {op:#x} {text!r}..."


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)
    return base64.b64encode(out.getvalue())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def reachable(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


def until(fact, what):
    end = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < end, what
        select.select([], [], [], 0.02)


# ---- what the port says ----

def golden(m, w):
    equal(w.capability, b"GENERAL")
    equal(w.permanent, b"false")
    equal(w.ask(0x01), (0x50, b"PONG|0|4"))
    op, text = w.stage(b"a.sh", b"echo hello $1 $2\n")
    assert op == 0x50 and text.startswith(b"FILE_SAVED: /") and text.endswith(b"/a.sh"), text
    equal(open(text[12:], "rb").read(), b"echo hello $1 $2\n")
    equal(w.ask(0x0C, b"a.sh"), (0x51, b"JOB_FAILED Invalid File Payload"))
    equal(w.ask(0x0C, b"a.sh|!!!"), (0x51, b"JOB_FAILED Illegal base64 character 21"))
    equal(w.ask(0x0C, b"../x.sh|QQ=="), (0x51, b"JOB_FAILED Invalid file name (path traversal rejected)"))
    equal(w.ask(0x0C, b"/etc/x|QQ=="), (0x51, b"JOB_FAILED Invalid file name (path traversal rejected)"))
    equal(w.ask(0x0C, b"|QQ=="), (0x51, b"JOB_FAILED Invalid file name (path traversal rejected)"))
    equal(w.ask(0x06, b"j1|a.sh|one two"), (0x50, b"JOB_ACCEPTED"))
    equal(m.ended(b"j1"), b"j1|COMPLETED|COMPLETED|0|hello one two\n")
    equal(m.lines(b"j1"), [b"hello one two"])
    equal(w.ask(0x06, b"j2|missing.sh|"), (0x50, b"JOB_ACCEPTED"))
    end = m.ended(b"j2")
    assert end.startswith(b"j2|FAILED|ERROR: File not found at /"), end
    equal(w.run(b"j3", b"f.sh", b"echo so far; exit 3\n"), (0x50, b"JOB_ACCEPTED"))
    equal(m.ended(b"j3"), b"j3|FAILED|ERROR: exit code 3\nso far\n")
    equal(w.run(b"j4", b"p.py", b"import sys, os\nprint(sys.argv[1:], os.environ['TITAN_JOB_ID'])\n", b"'a b' c"),
          (0x50, b"JOB_ACCEPTED"))
    equal(m.ended(b"j4"), b"j4|COMPLETED|COMPLETED|0|[\"'a\", \"b'\", 'c'] j4\n")
    equal(w.run(b"j5", b"x.bin", b"\x00\x01"), (0x50, b"JOB_ACCEPTED"))
    assert m.ended(b"j5").startswith(b"j5|FAILED|ERROR: Unsupported file"), m.ended(b"j5")
    equal(w.ask(0x06, b""), (0x51, b"ERROR: Invalid Run Payload"))
    equal(w.ask(0x06, b"j6|../../etc/passwd|"), (0x51, b"ERROR: Invalid Run Payload"))
    equal(w.ask(0x56, b"nobody"), (0x50, b"NOT_FOUND"))
    equal(w.ask(0x07, b"nobody"), (0x50, b"UNKNOWN_SERVICE: nobody"))
    begins(w.ask(0x0D, b"none.py|svc|1234"), 0x51, b"ERROR: File not found at /")
    begins(w.ask(0x0D, b"../x|svc|1234"), 0x51, b"ERROR: Invalid Service Payload")
    equal(w.ask(0x18, b"a1|main.py|%%%"), (0x51, b"ARCHIVE_FAILED: Illegal base64 character 25"))
    equal(w.ask(0x18, b"a1|main.py|QUJD"), (0x51, b"ARCHIVE_FAILED: it is no zip file"))
    equal(w.ask(0x18, b"a1|../main.py|QUJD"), (0x51, b"ARCHIVE_FAILED: Invalid entry (path traversal rejected)"))
    equal(w.ask(0x19, b"s1|main.py|80|%%%"), (0x51, b"ARCHIVE_SERVICE_FAILED: Illegal base64 character 25"))


def frames(m, w):
    with w.dial() as sock:  # any number on one connection, also in pieces, also several at once
        for byte in frame(0x01):
            sock.sendall(bytes([byte]))
        equal(read_frame(sock), (0x50, b"PONG|0|4"))
        sock.sendall(frame(0x01) + frame(0x01) + frame(0x99) + frame(0x55) + frame(0x01))
        for _ in range(3):  # those that nobody knows have no answer
            equal(read_frame(sock), (0x50, b"PONG|0|4"))
        sock.sendall(HEADER.pack(1, 1, 0xFF, 0xFF, 0))  # flags are not looked at
        equal(read_frame(sock), (0x50, b"PONG|0|4"))
    for bad in (HEADER.pack(2, 1, 0, 0, 0), HEADER.pack(1, 0x0C, 0, 0, 0x7FFFFFFF), HEADER.pack(1, 1, 0, 0, 0xFFFFFFFF)):
        with w.dial() as sock:
            sock.sendall(bad)
            equal(sock.recv(1), b"")  # closed without a word
    with w.dial() as sock:
        sock.sendall(frame(0x01)[:5])  # and leaves
    equal(w.ask(0x01), (0x50, b"PONG|0|4"))


def archives(m, w):
    z = zipped({"top/sub/main.py": "import os, helper\nprint(helper.word, os.path.basename(os.getcwd()), os.listdir('.'))\n",
                "top/sub/helper.py": "word = 'helped'\n"})
    equal(w.ask(0x18, b"DAG-z|top/sub/main.py|" + z), (0x50, b"JOB_ACCEPTED"))
    end = m.ended(b"DAG-z")
    assert end.startswith(b"DAG-z|COMPLETED|COMPLETED|0|helped sub ["), end
    equal(w.ask(0x18, b"bad|no/such.py|" + z), (0x50, b"JOB_ACCEPTED"))
    assert m.ended(b"bad").startswith(b"bad|FAILED|ERROR: "), m.ended(b"bad")


def services(m, w):
    port = free_port()
    text = ("import http.server, os\n"
            "http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), http.server.SimpleHTTPRequestHandler)"
            ".serve_forever()\n").encode()
    w.stage(b"srv.py", text)
    begins(w.ask(0x0D, b"srv.py|DAG-api|%d" % port), 0x50, b"DEPLOYED_SUCCESS | ID: DAG-api | PID: ")
    until(lambda: reachable(port), "the service does not listen")
    equal(w.ask(0x0D, b"srv.py|DAG-api|%d" % port), (0x50, b"SERVICE_ALREADY_RUNNING: DAG-api"))
    equal(w.ask(0x01), (0x50, b"PONG|0|4"))  # a service takes no slot
    equal(w.ask(0x07, b"DAG-api"), (0x50, b"STOPPED: DAG-api"))
    assert not reachable(port), "answered before it was dead"
    m.wait(lambda calls: (0x0A, b"DAG-api") in calls, "the end of the service")
    w.stage(b"text.bin", b"nothing")
    begins(w.ask(0x0D, b"text.bin|odd|1"), 0x50, b"LAUNCH_ERROR: Unsupported file")
    marks = os.path.join(w.dir, "marks")
    w.stage(b"crash.sh", b"echo x >>" + marks.encode() + b"; exit 1\n")
    begins(w.ask(0x0D, b"crash.sh|crasher|0"), 0x50, b"DEPLOYED_SUCCESS | ID: crasher | PID: ")
    until(lambda: os.path.exists(marks) and len(open(marks).read()) >= 4, "it is not started again")
    equal(w.ask(0x07, b"crasher"), (0x50, b"STOPPED: crasher"))
    port = free_port()
    z = zipped({"app/srv.py": text.decode()})
    equal(w.ask(0x19, b"zm|app/missing.py|%d|" % port + z),
          (0x51, b"ARCHIVE_SERVICE_FAILED: no file app/missing.py in the archive"))
    begins(w.ask(0x19, b"zs|app/srv.py|%d|" % port + z), 0x50, b"DEPLOYED_SUCCESS | ID: zs | PID: ")
    until(lambda: reachable(port), "the service of the archive does not listen")
    equal(w.ask(0x07, b"zs"), (0x50, b"STOPPED: zs"))


def saturation(m, w):
    fifo = os.path.join(w.dir, "fifo")
    os.mkfifo(fifo)
    gate = os.open(fifo, os.O_RDWR)  # kept open: a script that comes late finds its line too
    script = b"read line <" + fifo.encode() + b"\n"
    for i in range(4):
        equal(w.run(b"busy%d" % i, b"busy.sh", script), (0x50, b"JOB_ACCEPTED"))
    equal(w.ask(0x01), (0x50, b"PONG|4|4"))
    equal(w.ask(0x06, b"more|busy.sh|"), (0x51, b"ERROR_WORKER_SATURATED"))
    equal(w.ask(0x18, b"more|a.py|" + zipped({"a.py": ""})), (0x51, b"ERROR_WORKER_SATURATED"))
    equal(w.ask(0x56, b"busy1"), (0x50, b"KILLED"))
    equal(w.ask(0x01), (0x50, b"PONG|3|4"))
    equal(m.ended(b"busy1"), b"busy1|FAILED|ERROR: cancelled")
    equal(w.run(b"again", b"quick.sh", b"echo in\n"), (0x50, b"JOB_ACCEPTED"))
    equal(m.ended(b"again"), b"again|COMPLETED|COMPLETED|0|in\n")
    assert m.count(0x12) == 2, "the one that was refused must not be told of"
    os.write(gate, b"\n" * 3)  # read takes one line and no more
    for i in (0, 2, 3):
        begins((0, m.ended(b"busy%d" % i)), 0, b"busy%d|COMPLETED|COMPLETED|0|" % i)


def same_name(m, w):
    """Titan runs the wrong code, or none, when scripts have the same name."""
    for i in range(60):
        job = b"DAG-s%d" % i
        while w.run(job, b"job.sh", b"echo I am %d\n" % i) != (0x50, b"JOB_ACCEPTED"):
            pass
    for i in range(60):
        equal(m.ended(b"DAG-s%d" % i), b"DAG-s%d|COMPLETED|COMPLETED|0|I am %d\n" % (i, i))
    w.run(b"DAG-w", b"w.sh", b"echo handed >file\n")
    m.ended(b"DAG-w")
    w.run(b"DAG-r", b"r.sh", b"cat file\n")
    equal(m.ended(b"DAG-r"), b"DAG-r|COMPLETED|COMPLETED|0|handed\n")  # jobs of DAGs share a folder
    w.run(b"lone", b"r.sh", b"ls\n")
    equal(m.ended(b"lone"), b"lone|COMPLETED|COMPLETED|0|")  # others have their own


def workspace(m, w):
    """All scripts lie in one folder, with `shared` in it, where jobs of DAGs start."""
    w.run(b"DAG-put", b"put.sh", b"echo beside >$(dirname $0)/x; echo below >$(dirname $0)/shared/y\n")
    m.ended(b"DAG-put")
    w.run(b"DAG-get", b"get.sh", b"cat $(dirname $0)/x y; basename $0; [ $PWD = $(dirname $0)/shared ] && echo there\n")
    equal(m.ended(b"DAG-get"), b"DAG-get|COMPLETED|COMPLETED|0|beside\nbelow\nget.sh\nthere\n")


def output(m, w):
    lines = 200000
    w.run(b"DAG-many", b"many.sh", b"seq 1 %d\n" % lines)
    m.ended(b"DAG-many")
    got = m.lines(b"DAG-many")
    equal(len(got), lines)
    equal([int(x) for x in got], list(range(1, lines + 1)))
    w.run(b"DAG-big", b"big.py", b"import sys\nfor i in range(12 * 1024):\n    print('%07d' % i + 'x' * 1016)\n")
    end = m.ended(b"DAG-big")
    assert len(end) <= 10485760, len(end)
    assert end.startswith(b"DAG-big|COMPLETED|COMPLETED|0|0000000x"), end[:80]
    assert end.endswith(b" bytes left out here; the log has them]"), end[-100:]
    got = m.lines(b"DAG-big")
    equal(len(got), 12 * 1024)
    equal([int(x[:7]) for x in got], list(range(12 * 1024)))
    w.run(b"DAG-long", b"long.py", b"print('y' * 1000000, end='')\n")
    m.ended(b"DAG-long")
    equal(b"".join(m.lines(b"DAG-long")), b"y" * 1000000)
    assert m.open_most == 1, f"{m.open_most} calls at once: order is not kept"
    with m.lock:  # the log is complete before the end is told
        order = [(o, b.split(b"|", 1)[0]) for o, b in m.calls if o in (0x12, 0x17)]
    for job in (b"DAG-many", b"DAG-big", b"DAG-long"):
        equal(max(i for i, x in enumerate(order) if x == (0x17, job)) + 1, order.index((0x12, job)))


def master_away(m, w):
    m.deaf = True
    w.run(b"DAG-away", b"away.sh", b"echo kept\n")
    until(lambda: b"will be told again" in open(w.log.name, "rb").read(), "it does not notice")
    m.deaf = False
    equal(m.ended(b"DAG-away"), b"DAG-away|COMPLETED|COMPLETED|0|kept\n")
    equal(m.lines(b"DAG-away"), [b"kept"])


def gone(pid):
    try:
        os.kill(pid, 0)
        return open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def kill_worker(m, w):
    pids = os.path.join(w.dir, "pids")
    w.run(b"DAG-long", b"tree.sh", b"sleep 1000 & echo $! >>%s; setsid sleep 1000 & echo $$ >>%s; wait\n" %
          (pids.encode(), pids.encode()))
    until(lambda: os.path.exists(pids) and len(open(pids).read().split()) == 2, "it does not start")
    with w.dial() as sock:
        sock.sendall(frame(0x11, b"x"))
        equal(read_frame(sock), (0x11, b"SUCCESS: Worker shutting down."))
    equal(w.process.wait(timeout=PATIENCE), 0)
    for pid in open(pids).read().split():
        until(lambda: gone(int(pid)), "a process outlives the worker")


def another_worker(m, w):
    """`Worker.jar` on a worker of ours is another worker of ours."""
    port = free_port()
    equal(w.ask(0x0D, b"Worker.jar|WRK-%d-x|%d" % (port, port)),
          (0x50, b"DEPLOYED_SUCCESS | ID: WRK-%d-x | PID: DETACHED" % port))
    m.wait(lambda calls: any(o == 2 and b.startswith(b"%d||" % port) for o, b in calls), "the other one registers")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as sock:
        sock.sendall(frame(0x0C, b"o.sh|" + base64.b64encode(b"echo other\n")) + frame(0x06, b"o|o.sh|"))
        begins(read_frame(sock), 0x50, b"FILE_SAVED")
        equal(read_frame(sock), (0x50, b"JOB_ACCEPTED"))
    equal(m.ended(b"o"), b"o|COMPLETED|COMPLETED|0|other\n")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as sock:
        sock.sendall(frame(0x11))
        equal(read_frame(sock), (0x11, b"SUCCESS: Worker shutting down."))
    m.wait(lambda calls: (0x0A, b"WRK-%d-x" % port) in calls, "it is gone for good")
    assert not reachable(port)


def drain(m, w):
    fifo = os.path.join(w.dir, "fifo")
    os.mkfifo(fifo)
    w.run(b"DAG-last", b"last.sh", b"cat <" + fifo.encode() + b"\n")
    w.process.send_signal(signal.SIGTERM)
    # A file that is not there: one that is taken before the signal is noticed fails, and reads nothing of the fifo.
    until(lambda: w.ask(0x06, b"new|missing.sh|") == (0x51, b"ERROR_WORKER_SATURATED"), "it still takes jobs")
    with open(fifo, "w") as f:
        f.write("done\n")
    equal(m.ended(b"DAG-last"), b"DAG-last|COMPLETED|COMPLETED|0|done\n")
    equal(w.process.wait(timeout=PATIENCE), 0)


CASES = [golden, frames, archives, services, saturation, same_name, workspace, output, master_away, kill_worker, another_worker, drain]

if __name__ == "__main__":
    chosen = [c for c in CASES if c.__name__ in sys.argv[2:] or len(sys.argv) == 2]
    assert chosen, "no such case"
    for case in chosen:
        master = Master()
        worker = Worker(os.path.abspath(sys.argv[1]), master)
        try:
            case(master, worker)
            print("ok", case.__name__, flush=True)
        except BaseException:
            sys.stderr.write(open(worker.log.name).read()[-3000:])
            raise
        finally:
            worker.close()
