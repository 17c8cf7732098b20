#!/usr/bin/env python3
"""flow_list.py PROGRAM [--flows N] [--data DIR]: how long pages of flows take when there are many, and when there are ten.

A real server and a real worker run N flows (a million unless said) of one job each to their end; a hundredth of them fails,
names and labels repeat. When all are in the history, GET /api/v1/flows is asked for the first page of 50, one in the middle
and the last, and for pages with each filter; each thirty times, on one connection. The same with ten flows. Prints a table
in milliseconds. With --data the directory is kept, and used as it is when it has a server's files already: the browser's
test of a long list takes it (tests/browser/README.md).
"""
import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "sdk", "python", "src"))

import reeve  # noqa: E402

BATCH = 1000
TIMES = 30
PATIENCE_S = 3600
SLOTS = 1000


def until(what, said):
    """Waits for a condition; for a limited time."""
    end = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > end:
            raise SystemExit(f"flow_list: waited in vain for {said}")
        time.sleep(0.2)


class Lab:
    """A server with a worker on a data directory."""

    def __init__(self, program, data):
        self.data = data
        self.log = open(os.path.join(data, "lab.log"), "ab")
        if os.path.exists(os.path.join(data, "address")):
            os.unlink(os.path.join(data, "address"))
        serve = [program, "serve", "--data", data, "--listen", "127.0.0.1:0", "--http-rate", "1000000"]
        self.server = subprocess.Popen(serve, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        until(lambda: os.path.exists(os.path.join(data, "address")), "the server")
        self.address = self.line("address")
        self.token = self.line("admin.token")
        env = dict(os.environ, REEVE_TOKEN=self.line("worker.token"))
        work = [program, "worker", "--server", self.address, "--data", os.path.join(data, "lab-worker"),
                "--slots", str(SLOTS)]
        self.worker = subprocess.Popen(work, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env)
        self.web = http.client.HTTPConnection(self.address)
        self.asked = time.monotonic()

    def line(self, name):
        with open(os.path.join(self.data, name), encoding="utf-8") as f:
            return f.readline().strip()

    def get(self, path):
        if time.monotonic() - self.asked > 30:  # the server does not keep a silent connection for ever
            self.web.close()
        self.asked = time.monotonic()
        self.web.request("GET", "/api/v1" + path, headers={"Authorization": "Bearer " + self.token})
        answer = self.web.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"flow_list: {path}: {answer.status} {body[:300]}")
        return json.loads(body)

    def number(self, name):
        return self.get("/stats")["numbers"].get(name, 0)

    def close(self):
        for process in (self.worker, self.server):
            process.terminate()
        for process in (self.worker, self.server):
            process.wait(120)
        self.log.close()


def flow_of(i):
    job = {"fail": 3, "retries": 0} if i % 100 == 0 else {"noop": True}
    labels = {"env": "prod", "customer": f"c{i % 5000}"}
    if i % 1000 == 1:
        labels["agent_run_id"] = f"run-{i // 10000}"
    return {"name": f"etl-{i % 500}", "labels": labels, "jobs": {"extract": job}}


def fill(lab, flows):
    client = reeve.Client(lab.address, token=lab.token)
    until(lambda: client.workers(), "the worker")
    done = lab.number("flows_submitted")
    start = time.monotonic()
    i = done
    while i < flows:
        some = [{"spec": json.dumps(flow_of(k)).encode()} for k in range(i, min(i + BATCH, flows))]
        while some:  # those that were shed, until they are taken
            try:
                got = client.request("submit", {"flows": some})["flows"]
            except reeve.Busy:
                time.sleep(0.05)
                continue
            refused = [k for k, one in enumerate(got) if one.get("code")]
            some = [some[k] for k in refused]
            if some:
                time.sleep(0.05)
        i = min(i + BATCH, flows)
    until(lambda: lab.number("history_flows") >= flows, "the history")
    return time.monotonic() - start


def questions(flows):
    middle = f"&cursor={flows // 2}"
    now = int(time.time() * 1000)
    return [
        ("first page", ""),
        ("a page in the middle", middle),
        ("the last page", "&cursor=50"),
        ("states=failed", "&states=failed"),
        ("states=failed, middle", "&states=failed" + middle),
        ("states=failed or cancelled", "&states=failed&states=cancelled"),
        ("states=running (none)", "&states=running"),
        ("states=cancelled (none)", "&states=cancelled"),
        ("name=etl-77", "&name=etl-77"),
        ("name=etl (all)", "&name=etl"),
        ("name=zebra (none)", "&name=zebra"),
        ("labels=customer=c77", "&labels=customer=c77"),
        ("labels=env=prod (all)", "&labels=env=prod"),
        ("label=agent_run_id", "&label=agent_run_id"),
        ("labels=… and states=failed", "&labels=env=prod&states=failed"),
        ("since an hour ago", f"&since_ms={now - 3600000}"),
        ("until a minute after the first", "&until_ms={first}"),
        ("text=extract (all)", "&text=extract"),
        ("text=extract, middle", "&text=extract" + middle),
        ("text=ext (a beginning, all)", "&text=ext"),
        ("text=c77", "&text=c77"),
        ("text=exit (of errors)", "&text=exit"),
        ("text=zebra (none)", "&text=zebra"),
        ("job=extract (all)", "&job=extract"),
    ]


def measure(lab, flows):
    first = lab.get("/flows?most=1&cursor=1")["flows"][0]["created_ms"] + 60000
    rows = []
    for name, query in questions(flows):
        path = "/flows?most=50" + query.replace("{first}", str(first))
        took = []
        for _ in range(TIMES):
            begin = time.monotonic()
            got = lab.get(path)
            took.append((time.monotonic() - begin) * 1e3)
        whole = "cursor" not in got or len(got["flows"]) == 50
        rows.append((name, len(got["flows"]) if whole else -len(got["flows"]) - 1, statistics.median(took), max(took)))
    return rows


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--flows", type=int, default=1000000)
    options.add_argument("--data")
    o = options.parse_args()
    tables = []
    for flows in (o.flows, 10):
        with tempfile.TemporaryDirectory() as folder:
            data = o.data if o.data and flows == o.flows else os.path.join(folder, "data")
            os.makedirs(data, exist_ok=True)
            lab = Lab(o.program, data)
            took = fill(lab, flows)
            if took > 1:
                print(f"{flows} flows ran and are in the history after {took:.0f} s; "
                      f"{lab.number('flows')} of them are in memory, too", flush=True)
            tables.append(measure(lab, flows))
            lab.close()
    print(f"\n| page of 50 | of {o.flows:,}: ms (max) | rows | of 10: ms (max) |\n| --- | --- | --- | --- |")
    for many, few in zip(*tables):
        short = "" if many[1] >= 0 else " (short, with a cursor)"
        print(f"| {many[0]} | {many[2]:.2f} ({many[3]:.1f}) | {many[1] if many[1] >= 0 else -many[1] - 1}{short} "
              f"| {few[2]:.2f} ({few[3]:.1f}) |")


main()
