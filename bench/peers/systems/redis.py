"""Redis with its append-only file; a list is the plainest queue that there is."""
import lab as labs
from lab import program
from peer import Peer
from sender import ask_lines, submits


def redis_start(lab, folder, fsync):
    port = labs.free_port()
    process = lab.serve([program("redis-server"), "--bind", "127.0.0.1", "--port", port, "--dir", folder, "--save", "",
                         "--appendonly", "yes", "--appendfsync", fsync, "--daemonize", "no"], folder, port)
    return process, port


def redis_version():
    return labs.said_by([program("redis-server"), "--version"])


class RedisAlways(Peer):
    name = "Redis list, always"
    durable = "yes"
    sync = "`fdatasync` before the answers of a pass of its loop"
    settings = "`appendonly yes`, `appendfsync always`; `LPUSH`"
    fsync = "always"
    order = 20

    def start(self):
        self.process, self.port = redis_start(self.lab, self.lab.make("redis"), self.fsync)

    def stop(self):
        self.process.end()

    def version(self):
        return redis_version()

    def queued(self):
        return int(ask_lines(self.port, b"LLEN q\r\n", lambda got: got.endswith(b"\r\n"))[1:])

    def submit(self, plan):
        bytes_ = plan.workload.payload
        request = b"*3\r\n$5\r\nLPUSH\r\n$1\r\nq\r\n$%d\r\n%s\r\n" % (bytes_, b"x" * bytes_)
        return submits(self, plan, self.port, request)


class RedisEverySecond(RedisAlways):
    name = "Redis list, everysec"
    durable = "all but the last second"
    sync = "`fdatasync` once a second, beside the answers"
    settings = "`appendonly yes`, `appendfsync everysec`; `LPUSH`"
    fsync = "everysec"
    order = 21
