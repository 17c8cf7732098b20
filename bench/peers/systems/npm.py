"""Peers that come from npm: BullMQ on Redis, graphile-worker and pg-boss on PostgreSQL. Their clients are in node/."""
import json
import os
import shutil
import subprocess

from lab import BUILD, HERE, Agent, Failed, program
from peer import Peer, micros, rate
from postgres import postgres_start, postgres_version
from redis import redis_start, redis_version

INSTALL_S = 600
NODE = os.path.join(HERE, "node")


def packages():
    """Installs what node/package-lock.json names below build/, unless it is there; gives the folder."""
    folder = os.path.join(BUILD, "node")
    os.makedirs(folder, exist_ok=True)
    stamp = os.path.join(folder, "node_modules", ".reeve-lock")
    lock = os.path.join(NODE, "package-lock.json")
    for name in os.listdir(NODE):
        shutil.copy(os.path.join(NODE, name), folder)
    if os.path.exists(stamp) and open(stamp, "rb").read() == open(lock, "rb").read():
        return folder
    done = subprocess.run([program("npm"), "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"], cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=INSTALL_S,
                          check=False)
    if done.returncode:
        raise Failed("npm could not install its packages: " + done.stdout.decode(errors="replace")[-300:].strip())
    shutil.copy(lock, stamp)
    return folder


def package_version(name):
    with open(os.path.join(packages(), "node_modules", name, "package.json"), encoding="utf-8") as f:
        return json.load(f)["version"]


class FromNpm(Peer):
    durable = "yes"
    package = ""

    def server_start(self):
        """Gives the process and where it is."""
        raise NotImplementedError

    def start(self):
        modules = packages()
        self.folder = self.lab.make(self.package)
        self.process, place = self.server_start()
        self.agent = Agent(self.lab, [program("node"), os.path.join(modules, "agent.mjs"), self.package, str(place)],
                           self.folder)

    def stop(self):
        self.agent.process.end()
        self.process.end()

    def submit(self, plan):
        got = self.agent.ask("submit", clients=plan.workload.clients, payload=plan.workload.payload, milliseconds=plan.seconds * 1000,
                             answers=plan.answers)
        if got["queued"] != got["acknowledged"]:
            raise Failed(f"acknowledged were {got['acknowledged']} jobs, queued are {got['queued']}")
        return rate(got["count"], got["seconds"])

    def drain(self, plan):
        return rate(plan.count, self.agent.ask("drain", count=plan.count)["seconds"])


class BullMq(FromNpm):
    name = "BullMQ on Redis, always"
    sync = "Redis `appendfsync always`"
    settings = "Redis as above; one `Queue`, W2: 64 adds under way; a `Worker` of concurrency 100"
    package = "bullmq"
    order = 40

    def server_start(self):
        return redis_start(self.lab, self.folder, "always")

    def version(self):
        return f"{package_version('bullmq')}, Redis {redis_version()}"

    def round_trip(self, plan):
        return micros(plan.count, self.agent.ask("round_trip", count=plan.count)["seconds"])


class GraphileWorker(FromNpm):
    name = "graphile-worker on PostgreSQL"
    sync = "`synchronous_commit = on`"
    settings = "PostgreSQL's defaults; W2: a pool of 64 connections; one runner of concurrency 24"
    package = "graphile-worker"
    order = 42

    def server_start(self):
        return postgres_start(self.lab, self.folder)

    def version(self):
        return f"{package_version('graphile-worker')}, PostgreSQL {postgres_version()}"

    def round_trip(self, plan):
        return micros(plan.count, self.agent.ask("round_trip", count=plan.count)["seconds"])


class PgBoss(GraphileWorker):
    name = "pg-boss on PostgreSQL"
    settings = "PostgreSQL's defaults; W2: a pool of 64 connections; batches of 1,000, asked for every 100 ms"
    package = "pg-boss"
    only = {"W1", "W2", "W5"}  # it polls: a round trip is its interval
    order = 43

    def version(self):
        return f"{package_version('pg-boss')}, PostgreSQL {postgres_version()}"
