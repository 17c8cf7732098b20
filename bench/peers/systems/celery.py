"""Celery on Redis, from Debian: functions of Python in two worker processes."""
import os

import lab as labs
from lab import PYTHON, Agent, module_version
from peer import Peer, micros, rate
from redis import redis_start, redis_version


class Celery(Peer):
    name = "Celery on Redis, always"
    durable = "the queue; a job is forgotten when it starts"
    sync = "Redis `appendfsync always`, queue and results"
    settings = "two worker processes, `worker_prefetch_multiplier` 128, without gossip, mingle and heartbeat; acknowledged early, " \
               "as by default"
    order = 41

    def start(self):
        self.version()
        self.folder = self.lab.make("celery")
        self.process, port = redis_start(self.lab, self.folder, "always")
        agents = os.path.join(labs.HERE, "agents")
        env = {"CELERY_PORT": str(port), "PYTHONPATH": agents, "PYTHONDONTWRITEBYTECODE": "1"}
        self.worker = self.lab.spawn([PYTHON, "-m", "celery", "-A", "celery_agent", "worker", "-c", "2", "-Q", "trips",
                                      "--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR"], self.folder,
                                     server=False, env=dict(os.environ, **env))
        self.agent = Agent(self.lab, [PYTHON, os.path.join(agents, "celery_agent.py")], self.folder, env)
        self.agent.ask("warm")

    def stop(self):
        self.agent.process.end()
        self.worker.end()
        self.process.end()

    def version(self):
        return f"{module_version('celery')}, Redis {redis_version()}"

    def round_trip(self, plan):
        return micros(plan.count, self.agent.ask("round_trip", count=plan.count)["seconds"])

    def drain(self, plan):
        return rate(plan.count, self.agent.ask("drain", count=plan.count)["seconds"])
