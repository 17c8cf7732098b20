"""gearmand: background jobs in its queue, and jobs that a client waits for. A client and a worker of the binary protocol."""
import os
import socket
import struct
import sys
import time

import lab as labs
from lab import Agent, Failed, program
from peer import Peer, micros, rate
from sender import ask_lines, load, submits

JOB_CREATED, SUBMIT_JOB, WORK_COMPLETE, SUBMIT_JOB_BG = 8, 7, 13, 18
FLIGHT = 64


def packet(kind, *parts):
    body = b"\0".join(parts)
    return b"\0REQ" + struct.pack(">II", kind, len(body)) + body


class Gearman(Peer):
    name = "gearman"
    durable = "no"
    sync = "none: the queue is in memory"
    settings = "defaults; `SUBMIT_JOB_BG`, in W4 `SUBMIT_JOB` and two workers in Python"
    order = 31

    def queue_flags(self):
        return []

    def start(self):
        self.folder = self.lab.make("gearman")
        self.port = labs.free_port()
        self.process = self.lab.serve([program("gearmand"), "-L", "127.0.0.1", "-p", self.port, "-P",
                                       os.path.join(self.folder, "pid"), "-l", os.path.join(self.folder, "gearmand.log"),
                                       *self.queue_flags()], self.folder, self.port)
        agent = os.path.join(labs.HERE, "agents", "gearman_agent.py")
        self.workers = [Agent(self.lab, [sys.executable, agent, str(self.port)], self.folder) for _ in range(2)]

    def stop(self):
        for worker in self.workers:
            worker.process.end()
        self.process.end()

    def version(self):
        return labs.said_by([program("gearmand"), "--version"])

    def queued(self, function=b"queue"):
        answer = ask_lines(self.port, b"status\n", lambda got: got.endswith(b".\n"))
        lines = [line.split(b"\t") for line in answer.splitlines() if b"\t" in line]
        return sum(int(total) for name, total, *_ in lines if name == function)

    @staticmethod
    def background(plan, function):
        return packet(SUBMIT_JOB_BG, function, b"", b"x" * plan.workload.payload)

    def submit(self, plan):
        return submits(self, plan, self.port, self.background(plan, b"queue"), "gearman")

    def round_trip(self, plan):
        for worker in self.workers:
            worker.ask("serve", function="noop")
        with socket.create_connection(("127.0.0.1", self.port), labs.PATIENCE_S) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            began = time.perf_counter()
            for _ in range(plan.count):
                s.sendall(packet(SUBMIT_JOB, b"noop", b"", b""))
                kinds = [receive(s)[0], receive(s)[0]]
                if kinds != [JOB_CREATED, WORK_COMPLETE]:
                    raise Failed(f"packets {kinds} are not those of a job that was done")
            return micros(plan.count, time.perf_counter() - began)

    def drain(self, plan):
        load(self.port, self.background(plan, b"drain"), 1, FLIGHT, answers=plan.count, kind="gearman")
        if self.queued(b"drain") != plan.count:
            raise Failed("not all that were acknowledged are queued")
        began = time.perf_counter()
        for worker in self.workers:
            worker.ask("serve", function="drain")
        labs.until(lambda: self.queued(b"drain") == 0, "an empty queue", pause=0.002)
        took = time.perf_counter() - began
        for worker in self.workers:
            worker.ask("rest", function="drain")
        return rate(plan.count, took)


class GearmanSqlite(Gearman):
    name = "gearman, SQLite queue"
    durable = "the queue; ends are written later"
    sync = "a transaction of SQLite for each job that is queued"
    settings = "`-q libsqlite3`; `SUBMIT_JOB_BG`"
    only = {"W1", "W2", "W5"}  # a job that a client waits for is never stored
    order = 30

    def queue_flags(self):
        return ["-q", "libsqlite3", "--libsqlite3-db", os.path.join(self.folder, "queue.db")]


def receive(s):
    head = exactly(s, 12)
    kind, length = struct.unpack(">II", head[4:])
    return kind, exactly(s, length)


def exactly(s, count):
    got = b""
    while len(got) < count:
        more = s.recv(count - len(got))
        if not more:
            raise Failed("gearmand closed the connection")
        got += more
    return got
