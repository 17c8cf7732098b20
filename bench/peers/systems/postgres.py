"""A PostgreSQL of its own in a folder of its own; it refuses to be root, so that it then is the user `postgres`."""
import glob
import os
import pwd
import shutil
import signal
import subprocess

import lab as labs
from lab import Failed, program


def binary(name):
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return program(name, *folders)


def as_user(folder):
    if os.geteuid() != 0:
        return []
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise Failed("there is no user postgres, and root may not run PostgreSQL") from None
    shutil.chown(folder, user.pw_uid, user.pw_gid)
    return [program("setpriv"), "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]


def postgres_start(lab, folder):
    home = os.path.join(folder, "pg")
    os.mkdir(home)
    data, port, user = os.path.join(home, "data"), labs.free_port(), as_user(home)
    done = subprocess.run([*user, binary("initdb"), "-D", data, "-A", "trust", "-U", "bench", "-E", "UTF8", "--locale", "C", "--no-sync"],
                          cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=2 * labs.PATIENCE_S, check=False)
    if done.returncode:
        raise Failed("initdb: " + done.stdout.decode(errors="replace")[-300:].strip())
    process = lab.serve([*user, binary("postgres"), "-D", data, "-p", str(port), "-k", home, "-c", "listen_addresses=127.0.0.1",
                         "-c", "synchronous_commit=on", "-c", "fsync=on"], folder, port)
    labs.until(lambda: subprocess.run([binary("psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "bench", "-c", "select 1",
                                       "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30,
                                      check=False).returncode == 0, "PostgreSQL")
    end = process.end
    process.end = lambda number=signal.SIGINT: end(number)  # INT: it does not wait for its clients
    return process, f"postgres://bench@127.0.0.1:{port}/postgres"


def postgres_version():
    return labs.said_by([binary("postgres"), "--version"])
