"""Where and when a run happened, in words that a report has."""
import os
import platform
import subprocess
import time

BUSY_LOAD = 0.5  # of a processor: more than this before the run is somebody else


def first_line(path, pattern):
    try:
        with open(path, encoding="utf-8") as f:
            return next((line.split(":", 1)[1].strip() for line in f if line.startswith(pattern)), "unknown")
    except OSError:
        return "unknown"


def filesystem_of(folder):
    done = subprocess.run(["df", "--output=fstype,source", folder], stdout=subprocess.PIPE, text=True, check=False, timeout=30)
    return " on ".join(done.stdout.splitlines()[-1].split()) if done.stdout else "unknown"


def machine(disk):
    memory_kib = int(first_line("/proc/meminfo", "MemTotal").split()[0])
    with open("/etc/os-release", encoding="utf-8") as f:
        system = next((line.split("=", 1)[1].strip().strip('"') for line in f if line.startswith("PRETTY_NAME")), "unknown")
    return {"processors": f"{os.cpu_count()} × {first_line('/proc/cpuinfo', 'model name')}", "memory": f"{memory_kib / 2**20:.1f} GiB",
            "system": system, "kernel": platform.release(), "file system": filesystem_of(disk),
            "load before the run": f"{os.getloadavg()[0]:.2f}"}


def busy():
    """Something to say when others were at work; the load of the last minute has a build in it that just ended."""
    load = os.getloadavg()[0]
    return f"The machine was busy with other things (load {load:.1f} before the run)." if load > BUSY_LOAD * os.cpu_count() else ""


def today():
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())


def disk():
    """Where figures are measured unless somebody says so: where `reeve bench` does."""
    return os.environ.get("TMPDIR") or "/var/tmp"


def machine_table(facts):
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in facts.items()), ""]
