#!/usr/bin/env python3
"""loss.py: what other queues lose of what they acknowledged, by the measure of `reeve crashtest`: several connections
put jobs one after the other and note each acknowledgement; at a random moment the server is killed (-9) and started
again on the same directory; what was acknowledged is looked for. Then the same with a power cut: the server writes
through tools/powercut, and all that it did not sync is taken back before the restart.

    python3 bench/loss.py [--rounds N] [--markdown] [--json] [--seed N] [--build DIR] [--only NAME]

The cut is the mild one: whole unsynced writes are lost, none is torn, and any sync makes the names before it durable,
as on ext4 and XFS. Reeve itself is held to more (sectors, names by their directory): the last row is `reeve crashtest`.
A peer that is not installed is a row that says so. Needs build/release (make build) for the power cuts.
"""
import argparse
import functools
import glob
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

CONNECTIONS = 4
ROUND_SECONDS_MAX = 1.5  # what is synced once a second has a chance, too
START_SECONDS_MAX = 30.0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Line:
    """A connection that speaks lines."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, data):
        self.socket.sendall(data)
        line = self.file.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("hung up")
        return line[:-2]

    def take(self, count):
        data = self.file.read(count + 2)
        if len(data) != count + 2:
            raise ConnectionError("hung up")
        return data[:count]

    def close(self):
        self.file.close()
        self.socket.close()


class PostgresLine:
    """As much of PostgreSQL's protocol as a row in and rows out need."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        body = struct.pack("!i", 196608) + b"user\0loss\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
        self.until_ready()

    def until_ready(self):
        """The first column of each row."""
        rows = []
        while True:
            head = self.file.read(5)
            if len(head) != 5:
                raise ConnectionError("hung up")
            kind, size = head[:1], struct.unpack("!i", head[1:])[0]
            body = self.file.read(size - 4)
            if kind == b"E":  # also while it starts
                raise ConnectionError(body.decode(errors="replace"))
            if kind == b"D":
                rows.append(body[6:6 + struct.unpack("!i", body[2:6])[0]])
            if kind == b"Z":
                return rows

    def query(self, text):
        body = text.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(body) + 4) + body)
        return self.until_ready()

    def close(self):
        self.file.close()
        self.socket.close()


class Peer:
    """A server that can be started again on its directory. `prepare` may make it; `command` starts it."""

    name = what = ""
    env = {}

    def __init__(self, home):
        self.home = home
        self.data = os.path.join(home, "data")
        self.port = free_port()

    @classmethod
    def missing(cls):
        return None

    def prepare(self):
        os.mkdir(self.data)

    def user(self):
        return None


class Beanstalkd(Peer):
    program = "beanstalkd"
    flags = ()

    @classmethod
    def missing(cls):
        return None if shutil.which("beanstalkd") else "beanstalkd is not installed"

    def command(self):
        return ["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), "-b", self.data, *self.flags]

    def connect(self):
        return Line(self.port)

    def put(self, line, number):
        body = b"job-%d" % number
        answer = line.ask(b"put 10 0 120 %d\r\n%s\r\n" % (len(body), body))
        if not answer.startswith(b"INSERTED"):
            raise RuntimeError(answer)

    def all(self):
        """Takes everything out; it comes back when the connection ends."""
        line, found, more = self.connect(), set(), True
        while more:
            line.socket.sendall(b"reserve-with-timeout 0\r\n" * 500)
            for _ in range(500):
                answer = line.file.readline()
                more = answer.startswith(b"RESERVED")
                if more:
                    found.add(int(line.take(int(answer.split()[2])).split(b"-")[1]))
        line.close()
        return found


class BeanstalkdAlways(Beanstalkd):
    name, what, flags = "beanstalkd", "`-f0`: a sync for each job", ("-f0",)


class BeanstalkdDefault(Beanstalkd):
    name, what = "beanstalkd", "default: a sync every 50 ms"


class Redis(Peer):
    name, fsync = "Redis list", "always"

    @classmethod
    def missing(cls):
        return None if shutil.which("redis-server") else "redis-server is not installed"

    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.data, "--save", "",
                "--appendonly", "yes", "--appendfsync", self.fsync, "--logfile", os.path.join(self.home, "redis.log")]

    def connect(self):
        line = Line(self.port)
        if line.ask(b"PING\r\n") != b"+PONG":  # while it loads it refuses
            line.close()
            raise ConnectionError("loading")
        return line

    def put(self, line, number):
        answer = line.ask(b"RPUSH jobs job-%d\r\n" % number)
        if not answer.startswith(b":"):
            raise RuntimeError(answer)

    def all(self):
        line = self.connect()
        count = int(line.ask(b"LRANGE jobs 0 -1\r\n")[1:])
        found = {int(line.take(int(line.file.readline()[1:])).split(b"-")[1]) for _ in range(count)}
        line.close()
        return found


class RedisAlways(Redis):
    what = "`appendfsync always`"


class RedisSecond(Redis):
    what, fsync = "`appendfsync everysec` (its default)", "everysec"


class Postgres(Peer):
    """The rows of a queue in a table, as graphile-worker and its like have them: one INSERT, one commit."""

    name, commit = "PostgreSQL table", "on"

    @classmethod
    def bin(cls):
        return (sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [None])[-1]

    @classmethod
    def missing(cls):
        return None if cls.bin() else "PostgreSQL is not installed"

    def user(self):
        return "postgres" if os.getuid() == 0 else None  # it does not run as root

    def prepare(self):
        os.mkdir(self.data)
        if self.user():
            shutil.chown(self.home, self.user())
            shutil.chown(self.data, self.user())
        run_as(self.user(), [os.path.join(self.bin(), "initdb"), "-D", self.data, "-A", "trust", "-U", "loss"])

    def command(self):
        return [os.path.join(self.bin(), "postgres"), "-D", self.data, "-p", str(self.port), "-k", self.home,
                "-c", "listen_addresses=127.0.0.1", "-c", f"synchronous_commit={self.commit}"]

    def connect(self):
        c = PostgresLine(self.port)
        c.query("CREATE TABLE IF NOT EXISTS jobs(number bigint)")
        return c

    def put(self, c, number):
        c.query(f"INSERT INTO jobs VALUES({number})")

    def all(self):
        c = self.connect()
        found = {int(row) for row in c.query("SELECT number FROM jobs")}
        c.close()
        return found


class PostgresOn(Postgres):
    what = "`synchronous_commit=on`"


class PostgresOff(Postgres):
    what, commit = "`synchronous_commit=off`", "off"


PEERS = [BeanstalkdAlways, BeanstalkdDefault, RedisAlways, RedisSecond, PostgresOn, PostgresOff]


def run_as(user, command):
    prefix = ["runuser", "-u", user, "--"] if user else []
    subprocess.run(prefix + command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Run:
    """Rounds of one peer, with or without power cuts."""

    def __init__(self, peer, power, args, home):
        self.peer, self.args, self.random = peer(home), args, random.Random(args.seed)
        self.state = os.path.join(home, "state") if power else None
        self.process = None
        self.acknowledged, self.lost, self.next = set(), set(), 0
        self.lock = threading.Lock()
        self.log = open(os.path.join(home, "log"), "ab")

    def tool(self, *args):
        subprocess.run([os.path.join(self.args.build, "powercut"), *args], check=True, stdout=subprocess.DEVNULL)

    def start(self):
        env, user = dict(os.environ), self.peer.user()
        command = self.peer.command()
        if self.state:
            env.update(LD_PRELOAD=os.path.join(self.args.build, "powercut.so"), POWERCUT_STATE=self.state,
                       POWERCUT_DIRS=self.peer.data)
        self.process = subprocess.Popen(command, env=env, user=user, group=user, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                return self.close(self.peer.connect())
            except (ConnectionError, OSError):
                if self.process.poll() is not None:
                    raise RuntimeError("it does not start again")
                if time.monotonic() > until:
                    raise RuntimeError("it does not answer")
                time.sleep(0.005)

    @staticmethod
    def close(c):
        c.close()

    def kill(self):
        """The server alone first: what it started may notice, as in life. A power cut leaves nobody."""
        if self.process is None:
            return
        if self.state:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.kill()
        self.process.wait()
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:  # processes of its own end when it is gone
            try:
                os.killpg(self.process.pid, 0)
            except ProcessLookupError:
                break
            if all_zombies(self.process.pid):
                break
            time.sleep(0.005)
        self.process = None

    def client(self, index):
        try:
            c = self.peer.connect()
            for n in range(10**9):
                with self.lock:
                    self.next += 1
                    number = self.next
                self.peer.put(c, number)
                self.acknowledged.add(number)
        except (ConnectionError, OSError, ValueError):
            pass

    def one_round(self):
        threads = [threading.Thread(target=self.client, args=(i,), daemon=True) for i in range(CONNECTIONS)]
        for t in threads:
            t.start()
        time.sleep(self.random.random() * ROUND_SECONDS_MAX)
        self.kill()
        for t in threads:
            t.join(START_SECONDS_MAX)
        if self.state:
            self.tool("cut", self.state, "--names", "all", self.peer.data)
        self.start()
        self.lost |= self.acknowledged - self.peer.all()

    def run(self):
        if self.state:
            self.tool("settle", self.state)
            if self.peer.user():
                for path, dirs, files in os.walk(self.state):
                    for name in [path, *(os.path.join(path, f) for f in files)]:
                        shutil.chown(name, self.peer.user())
        self.peer.prepare()
        try:
            self.start()
            rounds_lost = 0
            for _ in range(self.args.rounds):
                before = len(self.lost)
                self.one_round()
                rounds_lost += len(self.lost) > before
            return {"acknowledged": len(self.acknowledged), "lost": len(self.lost), "rounds_lost": rounds_lost}
        except RuntimeError as e:
            return {"acknowledged": len(self.acknowledged), "lost": len(self.lost), "error": str(e)}
        finally:
            self.kill()
            self.log.close()


def all_zombies(group):
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                words = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[2]) == group and words[0] != "Z":
            return False
    return True


def measure(peer, power, args):
    missing = peer.missing()
    if missing is None and power and not os.path.exists(os.path.join(args.build, "powercut.so")):
        missing = "powercut.so is not built"
    if missing is not None:
        return {"missing": missing}
    home = tempfile.mkdtemp(prefix="reeve-loss-", dir=args.data)
    os.chmod(home, 0o755)
    try:
        return Run(peer, power, args, os.path.realpath(home)).run()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def reeve(power, args):
    program = os.path.join(args.build, "reeve")
    if not os.path.exists(program):
        return {"missing": "build/release/reeve is not built"}
    command = [program, "crashtest", "--json", "--rounds", str(args.rounds), "--seed", str(args.seed)]
    got = subprocess.run(command + ["--power-cut"] * power, capture_output=True, text=True)
    if not got.stdout.startswith("{"):
        return {"error": got.stderr.strip().splitlines()[-1] if got.stderr else "it failed"}
    found = json.loads(got.stdout)
    return {"acknowledged": found["acknowledged"], "lost": found["lost"], "run_twice": found["run_twice"]}


def cell(r):
    if "missing" in r:
        return r["missing"]
    if "error" in r and r.get("acknowledged") is None:
        return r["error"]
    text = f"{r['lost']:,} of {r['acknowledged']:,}"
    if r.get("rounds_lost"):
        text += f", in {r['rounds_lost']} rounds"
    return text + (f"; then {r['error']}" if "error" in r else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 2**31))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", default=os.environ.get("TMPDIR", "/var/tmp"))
    parser.add_argument("--only", help="rows whose name has this in it")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/release"))
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    heads = ("system", "how it acknowledges", "lost by kill -9", "lost by a power cut")
    if args.markdown:
        print(f"{args.rounds} rounds each, {CONNECTIONS} connections, one job in flight each, seed {args.seed}.\n")
        print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    rows = [(p.name, p.what, functools.partial(measure, p)) for p in PEERS]
    rows.append(("Reeve", "flows, blobs, keys and logs; also torn sectors and names", reeve))
    for name, what, run in rows:
        if args.only is not None and args.only.lower() not in name.lower():
            continue
        kill, power = (run(power, args) for power in (False, True))
        cells = (name, what, cell(kill), cell(power))
        if args.json:
            print(json.dumps({"name": name, "what": what, "kill": kill, "power_cut": power}))
        else:
            print("| " + " | ".join(cells) + " |" if args.markdown else "   ".join(cells))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
