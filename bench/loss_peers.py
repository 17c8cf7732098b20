"""loss_peers.py: the systems that loss.py kills: how each is started on its directory, given a job, and asked for all of
them. A driver is as much of a protocol as that needs, without any package."""
import glob
import os
import shutil
import socket
import struct
import subprocess

START_SECONDS_MAX = 30.0
PREPARE_SECONDS_MAX = 120.0


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
    subprocess.run(prefix + command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PREPARE_SECONDS_MAX)
