"""Slurm on one machine: munged, slurmctld and slurmd in a folder, set for many short jobs and without cgroups. It has to be
root: slurmd starts jobs as their users."""
import os
import socket
import subprocess
import time

import lab as labs
from lab import Failed, program
from peer import Peer, rate

RUN_S = 8.0  # a round at most: what is done by then counts
SLOTS = 64  # its scheduler works once a second: with as many slots as processors it would do two jobs a second
CONF = """
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=default_queue_depth=1000,batch_sched_delay=0,bf_interval=1,sched_interval=1
SlurmdParameters=config_overrides
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=2
MaxJobCount=20000
MaxArraySize=10001
SlurmctldDebug=error
SlurmdDebug=error
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={slots} State=UNKNOWN
PartitionName=bench Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm(Peer):
    name = "Slurm"
    durable = "all but the last seconds"
    sync = "its state is written from time to time, beside the answers"
    settings = "`sbatch --array`, one node with 64 slots (it schedules once a second), `sched/backfill`, `task/none`, " \
               "`proctrack/linuxproc`, no accounting; 8 s a round at most"
    order = 63

    def start(self):
        if os.geteuid() != 0:
            raise Failed("slurmd has to be root")
        self.folder = self.lab.make("slurm")
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.folder, name))
        self.conf = os.path.join(self.folder, "slurm.conf")
        self.controller, daemon = labs.free_port(), labs.free_port()
        self.host = socket.gethostname().split(".")[0]
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(CONF.format(slots=SLOTS, host=self.host, folder=self.folder, controller=self.controller, daemon=daemon))
        self.env = dict(os.environ, SLURM_CONF=self.conf)
        self.munge_start()
        self.servers = [self.lab.serve([program("slurmctld"), "-D", "-i", "-f", self.conf], self.folder, self.controller,
                                       env=self.env)]
        self.servers.append(self.lab.serve([program("slurmd"), "-D", "-f", self.conf, "-N", self.host], self.folder, daemon,
                                           env=self.env))
        labs.until(lambda: "idle" in self.call("sinfo", "-h", "-o", "%T"), "a node that is idle", pause=0.2)

    def munge_start(self):
        key = os.path.join(self.folder, "key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
            f.write(os.urandom(1024))
        path = os.path.join(self.folder, "munge")
        self.munge = self.lab.spawn([program("munged"), "--foreground", "--force", "--key-file", key, "--socket", path, "--pid-file",
                                     path + ".pid", "--log-file", path + ".log", "--seed-file", path + ".seed"], self.folder,
                                    server=False)
        labs.until(lambda: os.path.exists(path), "munged")

    def stop(self):
        self.call("scancel", "--state=PENDING", "-u", "root")
        for process in (*reversed(self.servers), self.munge):
            process.end()

    def version(self):
        return labs.said_by([program("slurmctld"), "-V"])

    def call(self, *args):
        done = subprocess.run([program(args[0]), *args[1:]], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=labs.PATIENCE_S, check=False)
        if done.returncode:
            raise Failed(f"{args[0]}: {done.stdout.strip()}")
        return done.stdout

    def processes(self, plan):
        out = self.lab.make("slurm-out")
        began = time.perf_counter()
        self.call("sbatch", f"--array=1-{plan.count}", "-o", f"{out}/%a", "--wrap", "/bin/true")
        left = plan.count
        while left and time.perf_counter() - began < RUN_S:
            left = len(self.call("squeue", "-h", "-r").splitlines())
            time.sleep(0.02)
        took, done = time.perf_counter() - began, plan.count - left
        self.call("scancel", "-u", "root")
        labs.until(lambda: not self.call("squeue", "-h"), "an empty queue", pause=0.05)
        if not done or len(os.listdir(out)) < done:
            raise Failed(f"{done} of {plan.count} jobs are done, {len(os.listdir(out))} have output")
        return rate(done, took)
