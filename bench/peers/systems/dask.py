"""Dask distributed, from Debian: a scheduler and two worker processes, all in memory."""
import os

import lab as labs
from lab import PYTHON, Agent, module_version
from peer import Peer, micros, rate


class Dask(Peer):
    name = "Dask distributed"
    durable = "no"
    sync = "none: all is in memory"
    settings = "`LocalCluster` of two processes with a thread each, no dashboard"
    counts_syncs = False
    order = 50

    def start(self):
        self.version()
        self.folder = self.lab.make("dask")
        self.agent = Agent(self.lab, [PYTHON, os.path.join(labs.HERE, "agents", "dask_agent.py")], self.folder,
                           {"PYTHONDONTWRITEBYTECODE": "1"})

    def stop(self):
        self.agent.process.end()

    def version(self):
        return module_version("distributed")

    def round_trip(self, plan):
        return micros(plan.count, self.agent.ask("round_trip", count=plan.count)["seconds"])

    def drain(self, plan):
        return rate(plan.count, self.agent.ask("drain", count=plan.count)["seconds"])

    def fan(self, plan):
        return micros(plan.count, self.agent.ask("fan", count=plan.count)["seconds"])

    def chain(self, plan):
        return micros(plan.count, self.agent.ask("chain", count=plan.count)["seconds"])
