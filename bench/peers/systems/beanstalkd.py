"""beanstalkd with its write-ahead log."""
import re
import signal
import time

import lab as labs
from lab import Failed, program
from peer import Measured, Peer
from sender import ask_lines, expect_queued, load, submits

FLIGHT = 1000  # puts under way while a queue is filled
RESTART_S = 120


class BeanstalkdAlways(Peer):
    name = "beanstalkd -f0"
    durable = "yes"
    sync = "`fsync` with each write"
    settings = "`-b DIR -f0`; `put`"
    flags = ["-f", "0"]
    order = 10

    def start(self):
        self.folder = self.lab.make("beanstalkd")
        self.port = labs.free_port()
        self.run()

    def run(self):
        self.process = self.lab.spawn([program("beanstalkd"), "-l", "127.0.0.1", "-p", self.port, "-b", self.folder,
                                       *self.flags], self.folder)
        if not labs.until(lambda: labs.answers(self.port) or not self.process.is_alive(), "beanstalkd", pause=0.001) \
                or not self.process.is_alive():
            raise Failed("beanstalkd ended at once: " + self.process.last_words())

    def stop(self):
        self.process.end()

    def version(self):
        return labs.said_by([program("beanstalkd"), "-v"])

    def queued(self):
        answer = ask_lines(self.port, b"stats-tube default\r\n",
                           lambda got: got.endswith(b"\r\n") and (not got.startswith(b"OK") or got.count(b"\r\n") > 1))
        return int(re.search(rb"current-jobs-ready: (\d+)", answer).group(1))

    @staticmethod
    def put(plan):
        return b"put 0 0 60 %d\r\n%s\r\n" % (plan.workload.payload, b"x" * plan.workload.payload)

    def submit(self, plan):
        return submits(self, plan, self.port, self.put(plan))


class Beanstalkd(BeanstalkdAlways):
    name = "beanstalkd -b"
    durable = "all but the last 50 ms"
    sync = "`fsync` every 50 ms at most"
    settings = "`-b DIR` (50 ms is its default); `put`"
    flags = []
    order = 11

    def restart(self, plan):
        """The time from the start of the process to the first job that it gives away."""
        self.stop()
        self.start()  # another log each time
        load(self.port, self.put(plan), 1, FLIGHT, answers=plan.count)
        expect_queued(self, plan.count)
        self.process.end(signal.SIGKILL)
        began = time.monotonic()
        self.run()
        answer = ask_lines(self.port, b"reserve-with-timeout %d\r\n" % RESTART_S, lambda got: b"\r\n" in got)
        took = time.monotonic() - began
        if not answer.startswith(b"RESERVED"):
            raise Failed(f"no job after the restart: {answer[:80]!r}")
        return Measured(took, plan.count)
