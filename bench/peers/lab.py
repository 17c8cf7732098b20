"""Where a run happens: folders, ports and processes, all of them gone afterwards, and no wait without an end.

Every process gets a group of its own and dies with this one; what escapes from its group (daemons) becomes our child, as
this process adopts orphans, and is ended at the end.
"""
import ctypes
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build", "peers")
PYTHON = "/usr/bin/python3"  # the one that Debian's packages are for
PATIENCE_S = 60.0
END_S = 10.0
SYNCS = ("fsync", "fdatasync", "msync", "sync_file_range")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None, use_errno=True)


class Failed(Exception):
    """Why a peer cannot do what it should; it is said in the results, and the others go on."""


def die_with_us():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def until(what, said, seconds=PATIENCE_S, pause=0.01):
    """Waits for a condition and gives what it said; for a limited time."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got:
            return got
        if time.monotonic() > end:
            raise Failed(f"waited {seconds:.0f} s in vain for {said}")
        time.sleep(pause)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def program(name, *others):
    """Where a program is; Debian puts servers where not every user looks."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", *others])
    found = shutil.which(name, path=path)
    if not found:
        raise Failed(f"there is no {name} here (tools/deps.sh peers installs it)")
    return found


def said_by(argv, pattern=r"[0-9]+(?:\.[0-9]+)+", **more):
    """The first thing like a version that a program says."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=PATIENCE_S, check=False, **more)
    found = re.search(pattern, done.stdout)
    return found.group(0) if found else "unknown"


def module_version(name):
    version = said_by([PYTHON, "-c", f"import {name}; print({name}.__version__)"])
    if version == "unknown":
        raise Failed(f"Debian's Python has no {name} (tools/deps.sh peers installs it)")
    return version


def syncs_in(text):
    """Calls of a strace log that make something durable; a call that was interrupted stands there twice."""
    calls = re.findall(r"^(?:\d+\s+)?(\w+)\((.*)$", text, re.M)
    return sum(name in SYNCS and (name != "msync" or "MS_SYNC" in rest) for name, rest in calls)


class Process:
    def __init__(self, popen, log):
        self.popen, self.log = popen, log

    def is_alive(self):
        return self.popen.poll() is None

    def last_words(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return " / ".join(line.strip() for line in f.read()[-600:].splitlines()[-4:] if line.strip())
        except OSError:
            return ""

    def end(self, number=signal.SIGTERM):
        for each in (number, signal.SIGKILL):
            try:
                os.killpg(self.popen.pid, each)
            except ProcessLookupError:
                pass
            try:
                self.popen.wait(END_S)
                return
            except subprocess.TimeoutExpired:
                pass


class Lab:
    """One folder and the processes in it; `trace` counts the syncs of those that are started as servers."""

    def __init__(self, disk, quick=False, trace=False):
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.folder = tempfile.mkdtemp(prefix="reeve-peers-", dir=disk)
        os.chmod(self.folder, 0o755)  # PostgreSQL is another user
        self.quick, self.trace = quick, trace
        self.processes = []
        self.traces = []
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def make(self, name):
        self.number += 1
        path = os.path.join(self.folder, f"{self.number}-{re.sub(r'[^a-z0-9]+', '-', name.lower())}")
        os.mkdir(path)
        return path

    def spawn(self, argv, folder, server=True, **more):
        """Starts a process; standard output and error go to a log in `folder`."""
        self.number += 1
        log = os.path.join(folder, f"log-{self.number}")
        argv = [str(each) for each in argv]
        if self.trace and server:
            path = os.path.join(folder, f"trace-{self.number}")
            self.traces.append(path)
            argv = [program("strace"), "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-e",
                    "trace=" + ",".join(SYNCS), "-o", path, *argv]
        with open(log, "wb") as out:
            settings = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out, "cwd": folder, **more}
            popen = subprocess.Popen(argv, start_new_session=True, preexec_fn=die_with_us, **settings)
        process = Process(popen, log)
        self.processes.append(process)
        return process

    def serve(self, argv, folder, port, **more):
        """Starts a server and waits until its port answers."""
        process = self.spawn(argv, folder, **more)
        def ready():
            if not process.is_alive():
                raise Failed(f"{os.path.basename(argv[0])} ended at once: {process.last_words()}")
            return answers(port)
        until(ready, f"{os.path.basename(argv[0])} on its port")
        return process

    def syncs(self):
        """How often the servers synced so far."""
        count = 0
        for path in self.traces:
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as f:
                    count += syncs_in(f.read())
        return count

    def close(self):
        for process in reversed(self.processes):
            process.end()
        self.processes = []
        for pid in orphans():
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        shutil.rmtree(self.folder, ignore_errors=True)


def orphans():
    """Children of this process; when everything else has ended these are daemons that it adopted."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                    if int(f.read().rpartition(")")[2].split()[1]) == os.getpid():
                        found.append(int(name))
            except (OSError, ValueError):
                pass
    return found


class Agent:
    """A program that does what it is told, a JSON object a line, and answers with one: clients that are no C and no Python
    of ours. Its first line says that it is ready."""

    def __init__(self, lab, argv, folder, env=None):
        self.process = lab.spawn(argv, folder, server=False, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 env=dict(os.environ, **(env or {})))
        self.rest = b""
        self.hello = self._read(PATIENCE_S)

    def _read(self, seconds):
        out = self.process.popen.stdout.fileno()
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([out], [], [], max(0.0, end - time.monotonic()))
            got = os.read(out, 65536) if ready else b""
            if not got:
                raise Failed(("it ended: " if ready else f"no answer in {seconds:.0f} s: ") + self.process.last_words())
            self.rest += got
        line, _, self.rest = self.rest.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def ask(self, op, seconds=180.0, **settings):
        self.process.popen.stdin.write(json.dumps({"op": op, **settings}).encode() + b"\n")
        self.process.popen.stdin.flush()
        return self._read(seconds)
