"""Programs that run programs: GNU parallel, xargs and task-spooler. They keep no queue that outlives them."""
import os
import subprocess
import time

import lab as labs
from lab import Failed, program
from peer import Peer, rate

RUN_S = 300


class Runner(Peer):
    durable = "no"
    sync = "none"
    counts_syncs = False
    order = 60

    def start(self):
        self.folder = self.lab.make(type(self).__name__)

    def timed(self, plan, argv, **more):
        """Each line of the input is a job."""
        process = self.lab.spawn(argv, self.folder, stdin=subprocess.PIPE, **more)
        began = time.perf_counter()
        try:
            process.popen.communicate("".join(f"{i}\n" for i in range(plan.count)).encode(), timeout=RUN_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"no end after {RUN_S} s") from None
        took = time.perf_counter() - began
        if process.popen.returncode:
            raise Failed(process.last_words() or f"exit code {process.popen.returncode}")
        return rate(plan.count, took)


class Parallel(Runner):
    name = "GNU parallel"
    settings = "`parallel -j2 /bin/true`; output goes through its files"

    def version(self):
        return labs.said_by([program("parallel"), "--version"], r"\d{8}")

    def processes(self, plan):
        env = dict(os.environ, HOME=self.folder, PARALLEL_HOME=self.folder, TMPDIR=self.folder)
        return self.timed(plan, [program("parallel"), "--will-cite", "-j2", "/bin/true", "{}"], env=env)


class Xargs(Runner):
    name = "xargs -P"
    settings = "`xargs -P2 -n1 sh -c 'exec /bin/true >out/$0 2>&1'`"
    order = 61

    def version(self):
        return labs.said_by([program("xargs"), "--version"])

    def processes(self, plan):
        os.makedirs(os.path.join(self.folder, "out"), exist_ok=True)
        return self.timed(plan, [program("xargs"), "-P2", "-n1", "sh", "-c", "exec /bin/true >out/$0 2>&1"])


class TaskSpooler(Runner):
    name = "task-spooler"
    settings = "`tsp -S 2`, then `tsp /bin/true` for each; output in its files; until the last is done"
    order = 62

    def start(self):
        super().start()
        self.tsp = program("tsp")
        self.env = dict(os.environ, TS_SOCKET=os.path.join(self.folder, "s"), TMPDIR=self.folder, TS_MAXFINISHED="2000",
                        TS_MAXCONN="100")
        self.call("-S", "2")

    def stop(self):
        self.call("-K")

    def version(self):
        return labs.said_by([program("tsp"), "-V"])

    def call(self, *args):
        done = subprocess.run([self.tsp, *args], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=labs.PATIENCE_S, check=False)
        return done.stdout.decode(errors="replace")

    def processes(self, plan):
        script = 'while read -r n; do "$0" /bin/true "$n" >/dev/null; done'
        result_script = script + '; while "$0" | grep -Eq "^[0-9]+ +(queued|running)"; do :; done'
        got = self.timed(plan, ["/bin/sh", "-c", result_script, self.tsp], env=self.env)
        states = self.call().split()
        if states.count("finished") != plan.count:
            raise Failed(f"{states.count('finished')} of {plan.count} are finished")
        self.call("-C")
        return got
