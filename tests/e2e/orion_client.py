"""Plays Orion's front end, from the description of its interface alone: submits its templates, polls, pulls the plug,
recovers. Each function named case_… is one test; what Orion itself gets wrong is asked for as it should be.

    orion_client.py CASE ADDRESS ADMIN_TOKEN
"""

import base64
import http.client
import json
import os
import socket
import struct
import sys
import threading
import time
import uuid

ADDRESS = TOKEN = None
ZERO = "0001-01-01T00:00:00Z"

# The front end's templates: id -> dependencies.
SIMPLE = {"T1": [], "T2": ["T1"], "T3": ["T2"]}
DIAMOND = {"A": [], "B": ["A"], "C": ["A"], "D": ["B", "C"]}
CRASH_DEMO = {"ingest": [], "parse": ["ingest"], "left": ["parse"], "right": ["parse"], "join": ["left", "right"],
              "report": ["join"], "notify": ["report"]}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    def json(self):
        assert self.headers.get("content-type", "").startswith("application/json"), self.headers
        return json.loads(self.text)


def ask(method, path, body=None, headers=None):
    c = http.client.HTTPConnection(ADDRESS, timeout=30)
    try:
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        return Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read().decode())
    finally:
        c.close()


def admin(path):
    return ask("POST", path, headers={"X-Orion-Admin-Token": TOKEN})


def submit(tasks, key=None):
    body = tasks if isinstance(tasks, str) else json.dumps(tasks)
    headers = {"Content-Type": "application/json"}
    if key is not False:
        headers["Idempotency-Key"] = key or str(uuid.uuid4())
    return ask("POST", "/api/v1/dag", body, headers)


def template(shape, payloads=None, suffix=None):
    """As the front end sends one: every id gets a suffix."""
    suffix = suffix or "_%d" % (time.time() * 1000)
    payloads = payloads or {}
    return [{"id": k + suffix, "payload": payloads.get(k, "work"), "priority": i + 1,
             "dependencies": [d + suffix for d in deps]} for i, (k, deps) in enumerate(shape.items())], suffix


def state():
    r = ask("GET", "/api/v1/dag/state")
    assert r.status == 200, r.text
    return r.json()


def until(what, of=state, seconds=60):
    """Polls, as the front end does."""
    end = time.time() + seconds
    while True:
        try:
            got = of()
            if what(got):
                return got
        except (ConnectionError, http.client.HTTPException):
            got = None  # the server was killed under the request
        assert time.time() < end, got
        time.sleep(0.02)


def tasks_are(suffix, status):
    return lambda s: all(t["status"] == status for i, t in s["tasks"].items() if i.endswith(suffix))


class Socket:
    """A WebSocket by hand: what is needed to listen."""

    def __init__(self, origin=None):
        host, port = ADDRESS.split(":")
        self.s = socket.create_connection((host, int(port)), timeout=30)
        head = "GET /ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" % ADDRESS
        head += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n" % base64.b64encode(os.urandom(16)).decode()
        head += "Origin: %s\r\n" % origin if origin else ""
        self.s.sendall((head + "\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        answer, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = int(answer.split(b" ")[1])

    def more(self):
        got = self.s.recv(65536)
        if not got:
            raise EOFError
        self.buffer += got

    def take(self, count):
        while len(self.buffer) < count:
            self.more()
        got, self.buffer = self.buffer[:count], self.buffer[count:]
        return got

    def message(self):
        """A dict for a message, (code, reason) for the close."""
        while True:
            first, length = self.take(2)
            assert first & 0x80 and not length & 0x80  # whole, and unmasked
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            payload = self.take(length)
            if first & 15 == 1:
                return json.loads(payload)
            if first & 15 == 8:
                return struct.unpack(">H", payload[:2])[0], payload[2:].decode()

    def until(self, what, types=None):
        """All messages but ticks up to one that is wanted."""
        got = []
        while not got or not what(got[-1]):
            m = self.message()
            assert isinstance(m, dict), m
            if m["type"] != "metrics.update" or types == "metrics.update":
                got.append(m)
        return got


# ---- what it promises ----


def case_templates_run():
    before = ask("GET", "/api/v1/status").json()
    assert set(before) == {"pending", "running", "completed", "failed", "retried"}
    for shape in (SIMPLE, DIAMOND, CRASH_DEMO):
        tasks, suffix = template(shape)
        r = submit(tasks)
        assert r.status == 201, r.text
        got = r.json()
        assert set(got) == {"dag_id", "ingested", "status"}, got
        assert got["ingested"] == len(shape) and got["status"] == "accepted"
        s = until(tasks_are(suffix, "completed"))
        mine = {i: t for i, t in s["tasks"].items() if i.endswith(suffix)}
        assert len(mine) == len(shape)
        for k, deps in shape.items():
            t = mine[k + suffix]
            assert {"id", "payload", "priority", "dependencies", "status", "retry_count", "max_retries", "start_time",
                    "end_time"} <= set(t), t
            assert t["priority"] == list(shape).index(k) + 1, t  # as it was sent
            assert t["max_retries"] == 3 and t["retry_count"] == 0
            assert t["start_time"] != ZERO and t["end_time"] >= t["start_time"]
            for d in deps:
                assert mine[d + suffix]["end_time"] <= t["start_time"], (d, t)
    assert set(s) >= {"tasks", "scheduler_running", "queue_size", "dropped_events", "metrics", "server_time"}
    assert s["scheduler_running"] is True
    after = ask("GET", "/api/v1/status").json()
    assert after["completed"] - before["completed"] == len(SIMPLE) + len(DIAMOND) + len(CRASH_DEMO)
    live = ask("GET", "/api/v1/metrics/live").json()
    assert set(live) == set(after) | {"queue_size", "ws_clients", "uptime_seconds", "workers", "dropped_events"}
    assert live["workers"] == 4 and live["queue_size"] == 0
    dags = ask("GET", "/api/v1/dags").json()
    assert dags["count"] == len(dags["dags"]) >= 3
    newest = dags["dags"][-1]
    assert newest["id"] == got["dag_id"] and newest["task_count"] == len(CRASH_DEMO)
    assert newest["task_ids"] == [t["id"] for t in tasks]


def case_health():
    assert ask("GET", "/healthz").json() == {"status": "alive"}
    assert ask("GET", "/readyz").json() == {"status": "ready"}
    assert ask("GET", "/admin/status").json()["running"] is True
    assert ask("GET", "/nowhere").status == 404
    assert ask("POST", "/api/v1/status").status == 405
    assert ask("GET", "/api/v1/dag").status == 405


def case_errors_are_json():
    def refused(tasks, words, status=400, key=None):
        r = submit(tasks, key)
        assert r.status == status, (r.status, r.text)
        error = r.json()["error"]  # Orion's own are no JSON as soon as they quote an id
        assert words in error, error

    one = {"id": "a"}
    refused([one], "missing Idempotency-Key header", key=False)
    refused("{", "invalid JSON body")
    refused('{"id":"a"}', "invalid JSON body")
    refused('[{"id":"a"}] trailing', "invalid JSON body")  # which Orion lets pass
    refused('[{"id":"a"}][]', "invalid JSON body")
    refused([{"id": "a", "colour": "red"}], 'unknown field "colour"')
    refused([{"id": "a", "priority": 1.5}], "priority")
    refused([{"id": 7}], "id")
    refused("[]", "empty task list")
    refused("null", "empty task list")
    refused([{"payload": "work"}], "empty")
    refused([{"id": 'x"y'}, {"id": 'x"y'}], 'duplicate task ID "x"y"')
    refused([{"id": "a", "dependencies": ["b"]}], 'unknown task "b"')
    refused([{"id": "a", "dependencies": ["b", "b"]}, {"id": "b"}], "duplicate dependency")
    refused([{"id": "a", "dependencies": ["a"]}], "no root")
    refused([{"id": "r"}, {"id": "a", "dependencies": ["b"]}, {"id": "b", "dependencies": ["a"]}],
            "DAG contains a cycle (only 1 of 3 tasks reachable)")
    refused([{"id": "t%d" % i} for i in range(1001)], "too many tasks in request")
    refused([{"id": "r", "dependencies": ["t%d" % i for i in range(51)]}] + [{"id": "t%d" % i} for i in range(51)],
            "too many dependencies")
    refused([{"id": "a", "max_retries": 1000000, "retry_count": 64, "payload": "fail"}], "max_retries")
    before = ask("GET", "/api/v1/dags").json()["count"]
    refused([{"id": "a" * 500}], "a")  # a name that is too long here, refused by the engine
    assert ask("GET", "/api/v1/dags").json()["count"] == before  # and nothing of it was kept


def case_large_dags():
    tasks = [{"id": "t%d" % i, "dependencies": ["t%d" % (i - 1)] if i % 100 else []} for i in range(1000)]
    r = submit(tasks)
    assert r.status == 201 and r.json()["ingested"] == 1000, r.text


def case_keys():
    tasks, suffix = template(SIMPLE)
    key = str(uuid.uuid4())
    first = submit(tasks, key)
    again = submit(tasks, key)
    assert (first.status, again.status) == (201, 200) and first.json() == again.json()
    other = submit([{"id": "other" + suffix}], key)
    assert other.status == 409 and "different" in other.json()["error"], other.text
    # Four at once: one makes it, the others hear of it. Orion: 201 and three times 500.
    tasks, suffix = template(DIAMOND)
    key, got = str(uuid.uuid4()), []
    threads = [threading.Thread(target=lambda: got.append(submit(tasks, key))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(g.status for g in got) == [200, 200, 200, 201], [g.status for g in got]
    assert len({g.json()["dag_id"] for g in got}) == 1
    assert sum(suffix in i for d in ask("GET", "/api/v1/dags").json()["dags"] for i in d["task_ids"]) == len(DIAMOND)


def case_ids_may_come_again():
    """Orion: 500, and the refused DAG is in the log. Here ids belong to their DAG, and none hides another."""
    first = submit([{"id": "same", "payload": "work"}]).json()["dag_id"]
    second = submit([{"id": "same", "payload": "sleep"}]).json()["dag_id"]
    assert first != second
    tasks = state()["tasks"]
    assert tasks["same"]["payload"] == "sleep"
    assert tasks[first + "/same"]["payload"] == "work"
    # Also one that is called like the key of another: each key is there once.
    assert submit([{"id": first + "/same", "payload": "third"}]).status == 201
    pairs = json.loads(ask("GET", "/api/v1/dag/state").text, object_pairs_hook=lambda p: p)
    keys = [k for k, _ in dict(pairs)["tasks"]]
    assert len(keys) == len(set(keys)), sorted(k for k in keys if keys.count(k) > 1)
    tasks = state()["tasks"]
    assert tasks[first + "/same"]["payload"] == "work"
    assert [t["payload"] for k, t in tasks.items() if k.endswith("/" + first + "/same")] == ["third"]


def case_failures_cascade():
    before = ask("GET", "/api/v1/status").json()
    tasks, suffix = template(DIAMOND, {"B": "fail"})
    tasks[1]["max_retries"] = 1
    assert submit(tasks).status == 201
    s = until(lambda s: s["tasks"]["D" + suffix]["status"] == "failed")
    t = {i[:1]: t for i, t in s["tasks"].items() if i.endswith(suffix)}
    assert (t["A"]["status"], t["B"]["status"]) == ("completed", "failed")
    assert t["B"]["retry_count"] == 1 and t["B"]["end_time"] > t["B"]["start_time"]
    assert t["D"]["start_time"] == ZERO  # it never ran
    until(lambda n: n["failed"] - before["failed"] == 2 and n["retried"] - before["retried"] == 1,
          lambda: ask("GET", "/api/v1/status").json())


def case_retries_are_turned_at_the_door():
    """max_retries: 0 is Orion's word for 3, a negative one for none. The times of retries survive, see case_plug."""
    tasks, suffix = template(SIMPLE)
    tasks[0]["max_retries"], tasks[1]["max_retries"] = -1, 7
    assert submit(tasks).status == 201
    got = state()["tasks"]
    assert [got[k + suffix]["max_retries"] for k in SIMPLE] == [0, 7, 3]


def case_lower_is_first():
    """One slot's worth of order: behind a full pool the lowest number starts first, whatever was sent first."""
    suffix = "_%d" % (time.time() * 1000)
    block = [{"id": "block%d%s" % (i, suffix), "payload": "sleep"} for i in range(4)]
    assert submit(block).status == 201
    until(lambda s: sum(t["status"] == "running" for i, t in s["tasks"].items() if i.endswith(suffix)) == 4)
    order = [("late", 9), ("first", -3), ("middle", 4), ("second", 0)]
    late = [{"id": n + suffix, "payload": "sleep", "priority": p} for n, p in order for n in [n]]
    late += [{"id": "x%d%s" % (i, suffix), "payload": "work", "priority": 50 + i} for i in range(4)]
    assert submit(late).status == 201
    s = until(tasks_are(suffix, "completed"))["tasks"]
    assert s["first" + suffix]["priority"] == -3
    for x in range(4):
        for n, _ in order:
            assert s[n + suffix]["start_time"] <= s["x%d%s" % (x, suffix)]["start_time"]


def metrics():
    r = ask("GET", "/metrics")
    assert r.status == 200 and r.headers["content-type"].startswith("text/plain")
    lines = [x for x in r.text.splitlines() if x and not x.startswith("#")]
    return {x.split(" ")[0]: float(x.split(" ")[1]) for x in lines}


def case_pages():
    ok = {"Origin": "http://localhost:3000"}
    r = ask("GET", "/api/v1/status", headers=ok)
    assert r.status == 200 and r.headers["access-control-allow-origin"] == ok["Origin"], r.headers
    r = ask("OPTIONS", "/api/v1/dag", headers=dict(ok, **{"Access-Control-Request-Method": "POST"}))
    assert r.status == 204 and "Idempotency-Key" in r.headers["access-control-allow-headers"]
    evil = ask("GET", "/api/v1/status", headers={"Origin": "http://evil.example"})
    assert evil.status == 403 and "access-control-allow-origin" not in evil.headers
    assert ask("POST", "/admin/simulate-crash", headers={"Origin": "http://evil.example"}).status == 403
    assert ask("GET", "/api/v1/status", headers={"Host": "evil.example"}).status == 421


def case_tokens():
    for path in ("/admin/simulate-crash", "/admin/recover"):
        r = ask("POST", path)
        assert r.status == 401 and r.json()["error"] == "admin demo token required"
        assert ask("POST", path, headers={"X-Orion-Admin-Token": "reeve-wrong"}).status == 401
    assert ask("POST", "/admin/recover", headers={"Authorization": "Bearer " + TOKEN}).status == 409


# ---- the WebSocket ----


def case_slots_come_back():
    """The last listener leaves while tasks run: their numbers are free again for the next."""
    for _ in range(4):
        ws = Socket()
        tasks, suffix = template({"A": [], "B": [], "C": [], "D": []})
        assert submit(tasks).status == 201
        started = ws.until(lambda m: m["type"] == "task.started" and m["task_id"].endswith(suffix))[-1]
        assert 1 <= started["worker_id"] <= 4, started
        ws.s.close()
        until(tasks_are(suffix, "completed"))


def case_events():
    assert Socket("http://evil.example").status == 403
    assert ask("GET", "/ws").status in (400, 426)
    ws = Socket("http://localhost:3000")
    assert ws.status == 101
    tick = ws.until(lambda m: m["type"] == "metrics.update", "metrics.update")[-1]
    names = {"pending", "running", "completed", "failed", "retried", "queue_size", "dropped_events"}
    assert set(tick["metadata"]) == names and all(isinstance(v, str) for v in tick["metadata"].values())
    tasks, suffix = template(DIAMOND, {"B": "fail"})
    tasks[1]["max_retries"] = 1
    assert submit(tasks).status == 201
    got = [m for m in ws.until(lambda m: m["type"] == "task.cascade") if suffix in json.dumps(m)]
    assert all("timestamp" in m for m in got)
    a, b, c, d = (k + suffix for k in DIAMOND)
    seen = [(m["type"], m.get("task_id")) for m in got]
    assert seen[0] == ("dag.submitted", None) and got[0]["dag_tasks"] == [a, b, c, d]
    want = [("task.started", a), ("task.completed", a), ("task.started", b), ("task.retry", b), ("task.started", b),
            ("task.failed", b), ("task.started", c), ("task.completed", c), ("task.cascade", b)]
    assert sorted(seen[1:]) == sorted(want), seen  # each once: nothing is told twice
    for m in got:
        if m["type"].startswith("task.") and m["type"] != "task.cascade":
            assert 1 <= m["worker_id"] <= 4, m
        if m["type"] == "task.completed":
            assert m["duration_ms"] >= 50, m
    by = {(m["type"], m.get("task_id")): m for m in got}
    assert (by["task.retry", b]["retry"], by["task.retry", b]["max_retry"]) == (1, 1)
    assert (by["task.failed", b]["retry"], by["task.failed", b]["max_retry"]) == (1, 1)
    assert by["task.cascade", b]["dag_tasks"] == [b, d]


def case_one_that_does_not_read_hurts_nobody():
    stalled, healthy = Socket(), Socket()
    stalled.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    suffix = "_%d" % (time.time() * 1000)
    ids = ["w%d%s" % (i, suffix) for i in range(100)]
    assert submit([{"id": i} for i in ids]).status == 201
    assert ask("GET", "/api/v1/metrics/live").json()["ws_clients"] >= 2
    left = set(ids)
    while left:
        m = healthy.message()
        if m["type"] == "task.completed" and m["task_id"].endswith(suffix):
            left.remove(m["task_id"])


def case_dropped_events_are_counted():
    """Each message that a client did not take is one, not each client."""
    before = ask("GET", "/api/v1/metrics/live").json()["dropped_events"]
    stalled = Socket()
    stalled.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)

    def dropped():
        root = "root_%d" % (time.time() * 1e6)  # it fails, and all of them with it: two large messages at once
        ids = [root + "_%d_" % i + "x" * 90 for i in range(900)]
        r = submit([{"id": root, "payload": "fail", "max_retries": -1}] +
                   [{"id": i, "dependencies": [root]} for i in ids])
        assert r.status == 201, r.text
        until(lambda n: n["pending"] == 0 and n["running"] == 0, lambda: ask("GET", "/api/v1/status").json())
        return ask("GET", "/api/v1/metrics/live").json()["dropped_events"] - before

    assert until(lambda n: n > 0, dropped) >= 8  # of more than a megabyte, none of an eighth of one


# ---- the plug ----


def case_plug():
    tasks, suffix = template(CRASH_DEMO, {"left": "sleep", "right": "sleep"})
    key = str(uuid.uuid4())
    first = submit(tasks, key)
    assert first.status == 201
    failing = "_f%d" % (time.time() * 1000)
    assert submit([{"id": "root" + failing, "payload": "fail", "max_retries": 2},
                   {"id": "child" + failing, "dependencies": ["root" + failing]}]).status == 201
    until(lambda s: s["tasks"]["left" + suffix]["status"] == "running" and
          s["tasks"]["root" + failing]["retry_count"] >= 0 and s["tasks"]["root" + failing]["start_time"] != ZERO)
    ws = Socket()
    before, ids = ask("GET", "/api/v1/dags").json(), metrics()["total_tasks_ingested"]
    r = admin("/admin/simulate-crash")
    assert r.status == 200 and set(r.json()) == {"status", "crash_time"} and r.json()["status"] == "crashed", r.text
    ws.until(lambda m: m["type"] == "system.crash")
    assert ws.message() == (1001, "scheduler crashed")
    until(lambda a: a["running"] is False and "last_crash" in a, lambda: ask("GET", "/admin/status").json())
    # While it is dead.
    offline = state()
    assert offline["scheduler_running"] is False and offline["tasks"] == {}
    assert offline["metrics"] == {"pending": 0, "running": 0, "completed": 0, "failed": 0, "retried": 0}
    assert ask("GET", "/healthz").status == 200
    for path in ("/readyz", "/api/v1/status", "/api/v1/metrics/live"):
        r = ask("GET", path)
        assert r.status == 503 and r.json()["error"] == "scheduler offline"
    r = submit(SIMPLE and [{"id": "never"}])
    assert r.status == 503 and r.headers["retry-after"] == "1"  # at once, and it means no
    assert admin("/admin/simulate-crash").status == 409
    assert ask("POST", "/admin/recover").status == 401
    r = admin("/admin/recover")
    assert r.status == 200 and set(r.json()) == {"status", "recovery_time", "downtime_ms"}, r.text
    assert r.json()["status"] == "recovered" and r.json()["downtime_ms"] > 0
    assert ask("GET", "/admin/status").json()["running"] is True
    assert admin("/admin/recover").status == 409
    # Who connects afterwards hears of it, and not of what was submitted before.
    ws = Socket()
    m = ws.message()
    assert m["type"] == "system.recover", m
    assert set(m["metadata"]) == {"completed_recovered", "failed_recovered", "orphans_requeued"}
    # Nothing is lost: DAGs, keys, numbers; nothing is counted twice.
    after = ask("GET", "/api/v1/dags").json()
    assert after == before
    assert metrics()["total_tasks_ingested"] == ids
    again = submit(tasks, key)
    assert again.status == 200 and again.json() == first.json()
    s = until(tasks_are(suffix, "completed"))["tasks"]
    assert all(s[k + suffix]["retry_count"] == 0 for k in CRASH_DEMO)
    # The failure that was under way is retried after its time, and drags its child down: Orion leaves it pending.
    s = until(tasks_are(failing, "failed"))["tasks"]
    told = ws.until(lambda m: m["type"] == "task.cascade" and m["task_id"] == "root" + failing)
    assert not [m for m in told if m["type"] == "dag.submitted"], told
    assert s["root" + failing]["retry_count"] == 2 and s["child" + failing]["status"] == "failed"
    until(lambda m: m["current_queue_size"] == 0 and m["active_workers"] == 0, metrics)
    m, n = metrics(), ask("GET", "/api/v1/status").json()
    assert m["tasks_completed_total"] == n["completed"] and m["tasks_failed_total"] == n["failed"]
    assert m["tasks_retried_total"] == n["retried"] and m["total_tasks_ingested"] == ids
    assert m["task_execution_latency_seconds_count"] > 0


def main():
    global ADDRESS, TOKEN
    case, ADDRESS, TOKEN = sys.argv[1:]
    globals()["case_" + case]()


if __name__ == "__main__":
    main()
