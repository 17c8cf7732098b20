"""Plays the page of Titan's dashboard, its SDK's manifest push and scripts that use its HTTP interface, from the
description of that interface alone. Each function named case_… is one test: keys, types and statuses are exact.

    titan_http_client.py CASE HOST:PORT HOST:PORT_OF_THE_PROTOCOL HOST:PORT_OF_THE_SERVER DATA_DIRECTORY
"""

import base64
import json
import os
import socket
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

WEB = TITAN = SERVER = DATA = None
DEADLINE = 60
SUBMIT_DAG, STATUS, FETCH, DEPLOY_SCRIPT = 4, 0x55, 0x54, 0x57
KV_SET, KV_GET, KV_SADD = 0x60, 0x61, 0x62


# ---- ways to ask

def http(method, path, body=None, headers=None, base=None):
    """Status, content type, bytes."""
    request = urllib.request.Request((base or "http://" + WEB) + path, data=body, method=method)
    for key, value in (headers or {}).items():
        request.add_header(key, value)
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=DEADLINE) as answer:
            return answer.status, answer.headers.get("Content-Type"), answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers.get("Content-Type"), refused.read()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *ignored):
        return None


def get(path):
    status, kind, text = http("GET", path)
    assert kind == "application/json", (status, kind, text)
    return status, json.loads(text)


def post(path, value=None, headers=None):
    """As requests.post(url, json=value) does; without a value, as requests.post(url)."""
    headers = dict(headers or {})
    if value is not None:
        headers.setdefault("Content-Type", "application/json")
    body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
    status, kind, text = http("POST", path, body, headers)
    assert kind == "application/json", (status, kind, text)
    return status, json.loads(text)


def upload(name, content, field="file", headers=None):
    """As a browser sends a form with one file."""
    boundary = "----b" + uuid.uuid4().hex
    form = (b'--%s\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--%s\r\n'
            b'Content-Disposition: form-data; name="%s"; filename="%s"\r\nContent-Type: text/x-python\r\n\r\n%s\r\n'
            b'--%s--\r\n' % (boundary.encode(), boundary.encode(), field.encode(), name.encode(), content,
                            boundary.encode()))
    headers = dict(headers or {})
    headers["Content-Type"] = "multipart/form-data; boundary=" + boundary
    status, kind, text = http("POST", "/api/upload_script", form, headers)
    assert kind == "application/json", (status, kind, text)
    return status, json.loads(text)


def read_exactly(c, count):
    got = b""
    while len(got) < count:
        piece = c.recv(count - len(got))
        if not piece:
            raise EOFError
        got += piece
    return got


def titan(op, body):
    """A frame to the master."""
    body = body.encode() if isinstance(body, str) else body
    host, port = TITAN.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=DEADLINE) as c:
        c.sendall(struct.pack(">BBBBI", 1, op, 0, 0, len(body)) + body)
        _, _, _, _, length = struct.unpack(">BBBBI", read_exactly(c, 8))
        return read_exactly(c, length).decode()


def raw(text):
    """What comes back to a request that no library would send."""
    host, port = WEB.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=DEADLINE) as c:
        c.sendall(text if isinstance(text, bytes) else text.encode())
        got = b""
        while b"\r\n" not in got:
            piece = c.recv(65536)
            if not piece:
                break
            got += piece
        return int(got.split(b" ")[1]) if got else 0


def own(path):
    """Our own interface, as the console reads it."""
    with open(os.path.join(DATA, "admin.token")) as f:
        token = f.read().strip()
    status, _, text = http("GET", "/api/v1" + path, headers={"Authorization": "Bearer " + token},
                           base="http://" + SERVER)
    assert status == 200, (status, text)
    return json.loads(text)


# ---- what is expected

def equal(got, wanted):
    assert got == wanted, "got %r, wanted %r" % (got, wanted)


def refused(got, status, keys=("error",)):
    equal((got[0], sorted(got[1])), (status, sorted(keys)))
    assert all(isinstance(v, (str, list)) for v in got[1].values()), got
    return got[1]


def until(what):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.02)  # between two looks, not in place of one
    raise AssertionError("it did not come in time: %r" % (what(),))


def dag(name):
    status, all_of_them = get("/api/dag_status")
    equal(status, 200)
    for d in all_of_them:
        equal(sorted(d), ["id", "jobs", "name", "status"])
        equal(d["id"], "DAG-" + d["name"])
        for j in d["jobs"]:
            equal(sorted(j), ["id", "status", "worker"])
            assert j["worker"] is None or j["worker"].startswith("127.0.0.1:"), j
    found = [d for d in all_of_them if d["name"] == name]
    assert len(found) < 2, found
    return found[0] if found else None


def statuses(name):
    found = dag(name)
    return {j["id"]: j["status"] for j in found["jobs"]} if found else {}


def ends(name, status):
    return until(lambda: (dag(name) or {}).get("status") == status)


def fresh(prefix):
    return prefix + uuid.uuid4().hex[:8]


def script(text, name=None):
    name = name or fresh("s") + ".py"
    equal(upload(name, text.encode()), (200, {"status": "ok", "filename": name}))
    return name


def line(job, content, parents=(), args=""):
    return "%s|RUN_PAYLOAD|x.py|%s|%s|GENERAL|1|0|[%s]" % (
        job, args, base64.b64encode(content.encode()).decode(), ",".join(parents))


# ---- scripts and files

def case_scripts_are_uploaded():
    name = fresh("a") + ".py"
    equal(upload(name, b"print('one')\r\n--\r\n"), (200, {"status": "ok", "filename": name}))
    status, listed = get("/api/perm_files")
    equal((status, sorted(listed)), (200, ["files"]))
    assert name in listed["files"] and listed["files"] == sorted(listed["files"]), listed
    equal(base64.b64decode(titan(FETCH, name)), b"print('one')\r\n--\r\n")
    equal(http("GET", "/api/workspace/file/" + name),
          (200, "application/octet-stream", b"print('one')\r\n--\r\n"))


def case_a_name_cannot_lead_elsewhere():
    tail = fresh("t")
    equal(upload("../../../%s.py" % tail, b"x=1")[1], {"status": "ok", "filename": tail + ".py"})
    equal(upload("C:\\tmp\\my %s.py" % tail, b"x=1")[1]["filename"], "C_tmp_my_%s.py" % tail)
    for path in ("..%2f..%2fetc%2fpasswd", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "nothing-here"):
        equal(raw("GET /api/workspace/file/%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (path, WEB)), 404)
    refused(get("/api/workspace/file/" + "x" * 2000), 404)


def case_bad_uploads():
    refused(upload("x.sh", b"echo"), 400)
    refused(upload("", b"x"), 400)
    refused(upload(".py", b"x"), 400)
    refused(upload("x.py", b"x", field="other"), 400)
    refused(post("/api/upload_script", {"file": "x.py"}), 400)
    refused(post("/api/upload_script"), 400)
    for form in (b"", b"--x", b"--x\r\n", b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.py\"\r\n",
                 b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.py\"\r\n\r\ndata", b"--x--\r\n",
                 b"--x\r\n\r\n\r\n--x\r\n" * 100):
        refused(post("/api/upload_script", form, {"Content-Type": "multipart/form-data; boundary=x"}), 400)
    refused(post("/api/upload_script", b"x", {"Content-Type": "multipart/form-data; boundary=" + "x" * 200}), 400)


def case_workspace_files():
    tag = fresh("w")
    equal(titan(DEPLOY_SCRIPT, tag + "-Report.CSV|" + base64.b64encode(b"1,2\n").decode()), "DEPLOY_SUCCESS")
    script("x=1", tag + "-train.py")
    before = int(time.time() * 1000)
    status, listed = get("/api/workspace/files?q=" + tag)
    equal((status, sorted(listed)), (200, ["files"]))
    files = {f["name"]: f for f in listed["files"]}
    equal(sorted(files), sorted([tag + "-Report.CSV", tag + "-train.py"]))
    for f in listed["files"]:
        equal(sorted(f), ["ext", "modified", "name", "size"])
        assert isinstance(f["size"], int) and abs(f["modified"] - before) < 10 * 60 * 1000, f
    equal((files[tag + "-Report.CSV"]["size"], files[tag + "-Report.CSV"]["ext"]), (4, ".csv"))
    times = [f["modified"] for f in get("/api/workspace/files")[1]["files"]]
    equal(times, sorted(times, reverse=True))
    # several words, and the parts of one between its dashes
    equal(len(get("/api/workspace/files?q=zzz," + tag + "-none")[1]["files"]), 2)
    equal(get("/api/workspace/files?q=" + tag + "zzz")[1]["files"], [])
    equal(http("GET", "/api/workspace/file/" + tag + "-Report.CSV")[2], b"1,2\n")


def case_a_large_file_comes_in_pieces():
    name, content = fresh("big") + ".py", os.urandom(3 << 20)
    equal(upload(name, content)[0], 200)
    equal(http("GET", "/api/workspace/file/" + name)[2], content)


# ---- DAGs

def case_a_dag_from_the_page():
    name, file = fresh("dag"), script("import sys; print('got', *sys.argv[1:])")
    a, b = fresh("a"), fresh("b")
    nodes, edges = [{"id": 1, "jobId": a, "pos": [0.5, 1e3]}], [{"from": 1, "to": 2}]
    got = post("/api/dag/submit", {"name": name, "_nodes": nodes, "_edges": edges, "jobs": [
        {"id": a, "filename": file, "job_type": "run", "requirement": "GENERAL", "priority": 5, "delay": 0,
         "affinity": False, "args": "x y|z", "port": 0, "depends_on": [], "hitl_message": "", "max_wait_seconds": 60},
        {"id": b, "filename": "anywhere/" + file, "priority": "2", "depends_on": [a], "args": None}]})
    equal(got, (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
    ends(name, "COMPLETED")
    equal(statuses(name), {"DAG-" + a: "COMPLETED", "DAG-" + b: "COMPLETED"})
    assert all(j["worker"] for j in dag(name)["jobs"]), dag(name)
    equal(titan(STATUS, "DAG-" + b), "COMPLETED")
    equal(http("GET", "/api/logs_raw/DAG-" + a), (200, "text/plain; charset=utf-8", b"got x y z"))
    # the drawing was kept
    status, state = get("/api/dag/constructor_state/" + name)
    equal((status, sorted(state)), (200, ["edges", "nodes", "saved_at"]))
    equal((state["nodes"], state["edges"]), (nodes, edges))
    flow = [f for f in own("/flows?most=100")["flows"] if f.get("name") == name][0]
    equal((flow["labels"]["dialect"], flow["labels"]["titan.dag"], flow["principal"]), ("titan", name, "titan"))


def case_bad_dags():
    file = script("x=1")
    for body in ({}, {"jobs": []}, {"jobs": {}}, {"name": "x"}, [], {"jobs": [1]}, {"jobs": [{"filename": file}]},
                 {"jobs": [{"id": "a"}]}, {"jobs": [{"id": "a", "filename": file, "priority": "high"}]},
                 {"jobs": [{"id": "a", "filename": file, "depends_on": "b"}]},
                 {"jobs": [{"id": "a", "filename": file, "port": 70000}]},
                 {"jobs": [{"id": "a", "filename": file, "depends_on": ["b"]},
                           {"id": "b", "filename": file, "depends_on": ["a"]}]},
                 {"name": "n" * 300, "jobs": [{"id": "a", "filename": file}]}):
        refused(post("/api/dag/submit", body), 400)
    equal(refused(post("/api/dag/submit", {}), 400)["error"], "Missing jobs")
    equal(refused(post("/api/dag/submit", {"jobs": [{"id": "a", "filename": "no-such.py"}]}), 400)["error"],
          "File not found in perm_files: no-such.py")
    refused(post("/api/dag/submit", b"{", {"Content-Type": "application/json"}), 400)
    # what the master refuses
    got = refused(post("/api/dag/submit", {"jobs": [{"id": "a", "filename": file, "depends_on": [fresh("x")]}]}),
                  502, ("status", "response"))
    equal(got["status"], "error")


def case_a_dag_that_fails():
    name, file = fresh("dag"), script("raise SystemExit(3)")
    post("/api/dag/submit", {"name": name, "jobs": [{"id": name + "a", "filename": file},
                                                    {"id": name + "b", "filename": file, "depends_on": [name + "a"]}]})
    ends(name, "FAILED")
    equal(statuses(name), {"DAG-" + name + "a": "FAILED", "DAG-" + name + "b": "CANCELLED"})


def case_no_logs_yet():
    equal(http("GET", "/api/logs_raw/DAG-" + fresh("none")),
          (200, "text/plain; charset=utf-8", b"[Titan] No logs found for this ID yet."))


def case_cancel():
    name, file = fresh("dag"), script("import time; time.sleep(600)")
    a, b = name + "a", name + "b"
    post("/api/dag/submit", {"name": name, "jobs": [{"id": a, "filename": file},
                                                    {"id": b, "filename": file, "depends_on": [a]}]})
    until(lambda: statuses(name).get("DAG-" + a) == "RUNNING")
    equal(dag(name)["status"], "RUNNING")
    equal(post("/api/job/DAG-%s/cancel" % b), (200, {"status": "ok", "job_id": "DAG-" + b, "result": "CANCELLED"}))
    refused(post("/api/job/DAG-%s/cancel" % b), 404, ("status", "message"))
    refused(post("/api/job/DAG-%s/cancel" % fresh("none")), 404, ("status", "message"))
    equal(post("/api/dag/DAG-%s/cancel" % name),
          (200, {"status": "ok", "dag_id": "DAG-" + name, "cancelled": ["DAG-" + a], "skipped": []}))
    ends(name, "CANCELLED")
    equal(post("/api/dag/DAG-%s/cancel" % name),
          (200, {"status": "ok", "dag_id": "DAG-" + name, "cancelled": [], "skipped": []}))
    refused(post("/api/dag/DAG-%s/cancel" % fresh("none")), 404, ("status", "message"))


def case_redeploy_and_replay():
    name, file = fresh("dag"), script("import os; print('run')")
    a, b = name + "a", name + "b"
    post("/api/dag/submit", {"name": name, "jobs": [{"id": a, "filename": file},
                                                    {"id": b, "filename": file, "depends_on": [a]}]})
    ends(name, "COMPLETED")
    equal(post("/api/dag/redeploy/DAG-" + name), (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
    equal(len(flows_of(name)), 2)
    ends(name, "COMPLETED")
    # one job, without what it waited for; the others stay in sight
    equal(post("/api/dag/replay/DAG-" + b), (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
    equal([f["job_count"] for f in flows_of(name)], [1, 2, 2])
    ends(name, "COMPLETED")
    equal(sorted(statuses(name)), ["DAG-" + a, "DAG-" + b])
    # sent anew with other jobs, it has those
    post("/api/dag/submit", {"name": name, "jobs": [{"id": name + "c", "filename": file}]})
    equal(sorted(statuses(name)), ["DAG-" + name + "c"])
    refused(post("/api/dag/redeploy/DAG-" + fresh("none")), 404)
    refused(post("/api/dag/replay/DAG-" + fresh("none")), 404)
    refused(post("/api/dag/replay/DAG-" + "x" * 2000), 404)


def flows_of(name):
    return [f for f in own("/flows?most=100&labels=titan.dag=%s" % name)["flows"]]


# ---- the manifest

def case_the_manifest_groups():
    """As the SDK: the master gets jobs, the dashboard hears what they are."""
    name, run = fresh("etl"), fresh("agent-")
    a, b = name + "-a", name + "-b"
    payload = " ; ".join([line(a, "print('from a')"), line(b, "print('from b')", [a])])
    equal(titan(SUBMIT_DAG, payload), "DAG_ACCEPTED")
    equal(sorted(statuses(a)), ["DAG-" + a, "DAG-" + b])  # named by its first job, as long as nothing else is known
    now = int(time.time() * 1000)
    manifest = {
        "DAG-" + a: {"dag": name, "deps": [], "run_ts": now, "agent_run_id": run, "filename": "x.py"},
        "DAG-" + b: {"dag": name, "deps": ["DAG-" + a], "run_ts": now, "agent_run_id": run},
        "__agent_run__" + run: {"agent_run_id": run, "stages": [name], "run_ts": now},
        "__payload__" + name: {"dag_payload": payload, "run_ts": now},
        "__job_payload__DAG-" + a: line(a, "print('from a')"),
        "__job_payload__DAG-" + b: line(b, "print('from b')"),
    }
    equal(post("/api/manifest/sync", manifest), (200, {"status": "ok"}))
    equal(post("/api/manifest/sync", manifest), (200, {"status": "ok"}))
    equal(dag(a), None)
    ends(name, "COMPLETED")
    equal(sorted(statuses(name)), ["DAG-" + a, "DAG-" + b])
    # what the console groups by
    found = own("/flows?most=100&labels=agent_run_id=" + run)["flows"]
    equal([f["labels"]["agent_run_id"] for f in found], [run])
    equal(post("/api/dag/redeploy/DAG-" + name), (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
    equal(post("/api/dag/replay/DAG-" + b), (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
    ends(name, "COMPLETED")
    equal(len(own("/flows?most=100&labels=agent_run_id=" + run)["flows"]), 3)
    equal(http("GET", "/api/logs_raw/DAG-" + b)[2], b"from b")
    # of a cluster that is gone the manifest alone is left
    gone = fresh("gone")
    equal(post("/api/manifest/sync", {
        "DAG-%s-x" % gone: {"dag": gone, "deps": [], "run_ts": now, "final_status": "COMPLETED"},
        "DAG-%s-y" % gone: {"dag": gone, "deps": [], "run_ts": now}})[0], 200)
    equal(dag(gone), {"id": "DAG-" + gone, "name": gone, "status": "PENDING", "jobs": [
        {"id": "DAG-%s-x" % gone, "status": "COMPLETED", "worker": None},
        {"id": "DAG-%s-y" % gone, "status": "WAITING", "worker": None}]})
    refused(post("/api/dag/DAG-%s/cancel" % gone), 502, ("status", "message", "errors"))


def case_bad_manifests():
    for body in ({}, [], [1], "x", {"DAG-x": 1}, {"DAG-x": "text"}, {"": {}}, {"x" * 2000: {}},
                 {"DAG-x": {"dag": "n" * 300}}, {"__payload__x": 5}):
        refused(post("/api/manifest/sync", body), 400)
    refused(post("/api/manifest/sync", b'{"a": {', {"Content-Type": "application/json"}), 400)
    refused(post("/api/manifest/sync", b'{"a": 1, "a": 2}', {"Content-Type": "application/json"}), 400)
    # stored as it came, refused when it is to be run
    equal(post("/api/manifest/sync", {"__payload__broken": {"dag_payload": "no dag at all"}})[0], 200)
    refused(post("/api/dag/redeploy/DAG-broken"), 400)
    # larger than a request may be
    refused(post("/api/manifest/sync", {"__payload__x": {"dag_payload": "x" * (17 << 20)}}), 413)


def case_a_long_manifest():
    """The SDK sends all it ever submitted."""
    name = fresh("long")
    entries = {"DAG-%s-%d" % (name, i): {"dag": name, "deps": [], "run_ts": i} for i in range(3000)}
    entries["__payload__" + name] = {"dag_payload": line(name, "print('x' * 10) #" + "y" * 2000000)}
    equal(post("/api/manifest/sync", entries), (200, {"status": "ok"}))
    equal(len(dag(name)["jobs"]), 3000)
    equal(post("/api/dag/redeploy/" + name)[0], 200)


# ---- drafts

def case_drafts():
    name = fresh("draft") + " of Zoë/1"
    nodes = [{"id": 1, "x": 1.5e300, "label": "\u2713 \" \\ </script>", "n": 12345678901234567890}]
    equal(post("/api/dag/save_draft", {"name": "  " + name + " ", "nodes": nodes, "edges": []}),
          (200, {"status": "ok", "name": name}))
    status, state = get("/api/dag/constructor_state/" + urllib.parse.quote(name, safe=""))
    equal((status, state["nodes"], state["edges"]), (200, nodes, []))
    assert isinstance(state["saved_at"], int) and abs(state["saved_at"] - time.time() * 1000) < 600000, state
    later = fresh("draft")
    equal(post("/api/dag/save_draft", {"name": later, "nodes": [], "edges": []})[0], 200)
    status, listed = get("/api/dag/constructor_states")
    equal((status, sorted(listed)), (200, ["states"]))
    assert all(sorted(x) == ["name", "saved_at"] for x in listed["states"]), listed
    saved = [x["saved_at"] for x in listed["states"]]
    equal(saved, sorted(saved, reverse=True))
    assert {name, later} <= {x["name"] for x in listed["states"]}, listed
    equal(post("/api/dag/save_draft", {"nodes": []})[1], {"status": "ok", "name": "my-pipeline"})
    refused(post("/api/dag/save_draft", {"name": "   "}), 400)
    refused(post("/api/dag/save_draft", {"name": 5}), 400)
    refused(post("/api/dag/save_draft", {"name": "x", "nodes": "y"}), 400)
    refused(post("/api/dag/save_draft", []), 400)
    refused(post("/api/dag/save_draft", b"nothing", {"Content-Type": "application/json"}), 400)
    refused(get("/api/dag/constructor_state/" + fresh("none")), 404)
    got = post("/api/dag/save_draft", {"name": "large", "nodes": ["x" * (2 << 20)]})
    assert got[0] in (400, 413) and sorted(got[1]) == ["error"], got


# ---- people

def case_gates():
    gate, other = fresh("hitl-gate-"), fresh("hitl-gate-")
    for key, value in (("status:" + gate, "WAITING"), ("message:" + gate, "Deploy Zo\u00eb's model?"),
                       ("ts:" + gate, "1794773699630"), ("status:" + other, "APPROVED")):
        equal(titan(KV_SET, "titan:hitl:%s|%s" % (key, value)), "OK")
    titan(KV_SADD, "titan:hitl:queue|" + gate)
    titan(KV_SADD, "titan:hitl:queue|" + other)
    pending = [p for p in get("/api/hitl/pending")[1] if p["job_id"] in (gate, other)]
    equal(pending, [{"job_id": gate, "message": "Deploy Zo\u00eb's model?", "ts": 1794773699630}])
    equal(post("/api/hitl/approve/" + gate), (200, {"status": "ok", "job_id": gate, "decision": "APPROVED"}))
    equal(titan(KV_GET, "titan:hitl:status:" + gate), "APPROVED")
    equal([p for p in get("/api/hitl/pending")[1] if p["job_id"] == gate], [])
    equal(post("/api/hitl/reject/" + other), (200, {"status": "ok", "job_id": other, "decision": "REJECTED"}))
    equal(titan(KV_GET, "titan:hitl:status:" + other), "REJECTED")
    refused(post("/api/hitl/approve/" + "x" * 2000), 502, ("status", "message"))
    refused(post("/api/hitl/approve/a%7Cb"), 400, ("status", "message"))


def waits(gate):
    return [p for p in get("/api/hitl/pending")[1] if p["job_id"] == gate]


def case_a_dag_with_a_gate():
    """A message of a job puts a gate behind it, for which its children wait; no script has to be uploaded for it."""
    name, file = fresh("gated"), script("print('ran')")
    a, b, gate = name + "a", name + "b", "hitl-gate-" + name + "a"
    body = {"name": name, "jobs": [{"id": a, "filename": file, "hitl_message": "go | on?", "max_wait_seconds": 600},
                                   {"id": b, "filename": file, "depends_on": [a]}]}
    equal(post("/api/dag/submit", body), (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
    equal(until(lambda: waits(gate))[0]["message"], "go   on?")
    got = statuses(name)
    equal((got["DAG-" + a], got["DAG-" + b]), ("COMPLETED", "PENDING"))
    equal(sorted(got), sorted(["DAG-" + a, "DAG-" + b, "DAG-" + gate]))
    equal(post("/api/hitl/approve/" + gate)[0], 200)
    ends(name, "COMPLETED")
    # a decision about one run is none about the next
    equal(post("/api/dag/redeploy/DAG-" + name)[0], 200)
    until(lambda: waits(gate))
    equal(post("/api/hitl/reject/" + gate)[0], 200)
    ends(name, "FAILED")
    equal(statuses(name)["DAG-" + b], "CANCELLED")
    # what is too long for a gate would be a script, and there is none
    body["jobs"][0]["max_wait_seconds"] = 10 ** 12
    equal(refused(post("/api/dag/submit", body), 400)["error"], "File not found in perm_files: hitl_gate.py")


def case_many_gates_wait():
    tag = fresh("many")
    for i in range(300):
        titan(KV_SADD, "titan:hitl:queue|%s-%d" % (tag, i))
        titan(KV_SET, "titan:hitl:status:%s-%d|WAITING" % (tag, i))
    got = [p for p in get("/api/hitl/pending")[1] if p["job_id"].startswith(tag)]
    equal(len({p["job_id"] for p in got}), 300)
    equal({(p["message"], p["ts"]) for p in got}, {("Awaiting approval", 0)})


# ---- workers and pages

def case_workers():
    status, got = post("/api/worker/launch", {"port": 8123, "capability": "gpu", "permanent": True})
    equal((status, sorted(got)), (200, ["capability", "pid", "port", "status"]))
    equal((got["status"], got["port"], got["capability"]), ("ok", 8123, "GPU"))
    assert isinstance(got["pid"], int) and got["pid"] > 1, got
    # it is there: a job that needs it runs, and is seen on that port
    name, file = fresh("dag"), script("print('on a gpu')")
    post("/api/dag/submit", {"name": name, "jobs": [{"id": name, "filename": file, "requirement": "GPU"}]})
    ends(name, "COMPLETED")
    equal(dag(name)["jobs"][0]["worker"], "127.0.0.1:8123")
    for body in ({"capability": "QUANTUM"}, {"port": 0}, {"port": "x"}, {"port": 70000}, {"capability": 5}, []):
        refused(post("/api/worker/launch", body), 400, ("status", "error"))


def case_pages_lead_to_the_console():
    for path, there in (("/", "/"), ("/dags", "/flows"), ("/dags/new", "/new"), ("/dags/DAG-x", "/flows"),
                        ("/agents", "/agents"), ("/logs/DAG-x", "/flows")):
        request = urllib.request.Request("http://" + WEB + path)
        try:
            urllib.request.build_opener(NoRedirect).open(request, timeout=DEADLINE)
            raise AssertionError(path)
        except urllib.error.HTTPError as answer:
            equal((answer.code, answer.headers["Location"]), (302, "http://" + SERVER + there))


def case_unknown_paths_and_methods():
    for path in ("/api", "/api/", "/api/nothing", "/api/dag_status/", "/api/logs_raw/", "/api/logs_raw/a/b",
                 "/api/v1/flows", "/metrics", "/api/hitl/approve/", "/api/logs_raw/%ff", "/api/logs_raw/%00"):
        equal(http("GET", path)[0], 404)
    for method, path in (("POST", "/api/dag_status"), ("GET", "/api/dag/submit"), ("PUT", "/api/manifest/sync"),
                         ("DELETE", "/api/perm_files"), ("GET", "/api/hitl/approve/x")):
        status, _, text = http(method, path)
        equal((status, sorted(json.loads(text))), (405, ["error"]))
    equal(http("OPTIONS", "/api/dag/submit")[0], 204)
    equal(http("HEAD", "/api/perm_files")[::2], (200, b""))
    equal(raw("GET  /api/perm_files HTTP/1.1\r\nHost: %s\r\n\r\n" % WEB), 400)


# ---- pages of others

def case_pages_of_others_are_refused():
    def headers(**more):
        lines = "".join("%s: %s\r\n" % (k.replace("_", "-"), v) for k, v in more.items())
        return raw("POST /api/hitl/approve/x HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n%s\r\n" % (WEB, lines))

    equal(headers(), 200)
    equal(headers(Origin="http://" + WEB), 200)
    equal(headers(Origin="http://" + WEB, Sec_Fetch_Site="same-origin"), 200)
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", "https://evil.example",
                   "http://" + WEB + ".evil.example", ""):
        equal(headers(Origin=origin), 403)
    equal(headers(Sec_Fetch_Site="cross-site"), 403)
    equal(headers(Sec_Fetch_Site="same-site"), 403)
    equal(raw("POST /api/hitl/approve/x HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nOrigin: http://%s\r\n"
              "Origin: http://evil.example\r\n\r\n" % (WEB, WEB)), 403)
    # its name server may have led its own name here
    for host in ("evil.example", "evil.example:" + WEB.split(":")[1], "127.0.0.1.evil.example"):
        equal(raw("GET /api/dag_status HTTP/1.1\r\nHost: %s\r\n\r\n" % host), 421)
    equal(raw("GET /api/dag_status HTTP/1.1\r\nHost: localhost:%s\r\n\r\n" % WEB.split(":")[1]), 200)
    # what a form of any page could send without being asked
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        refused(post("/api/manifest/sync", b'{"DAG-x": {"dag": "y"}}', {"Content-Type": kind}), 415)
    equal(post("/api/manifest/sync", b'{"DAG-x": {"dag": "y"}}',
               {"Content-Type": "application/json; charset=utf-8"})[0], 200)


def case_only_http_is_spoken_here():
    host, port = WEB.rsplit(":", 1)
    for hello in (struct.pack(">BBBBI", 1, STATUS, 0, 0, 1) + b"x", b"*1\r\n$4\r\nPING\r\n", b"\x02" + b"\0" * 40):
        with socket.create_connection((host, int(port)), timeout=DEADLINE) as c:
            c.sendall(hello)
            got = b""
            try:
                while True:
                    piece = c.recv(4096)
                    if not piece:
                        break
                    got += piece
            except ConnectionResetError:
                pass
            # nothing but HTTP, and to what is no text, nothing
            assert got == b"" if hello[:1] < b" " else got.startswith(b"HTTP/1.1 400 "), got


def case_one_connection_many_requests():
    host, port = WEB.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=DEADLINE) as c:
        ask = ("GET /api/perm_files HTTP/1.1\r\nHost: %s\r\n\r\nPOST /api/job/none/cancel HTTP/1.1\r\nHost: %s\r\n"
               "Content-Length: 0\r\n\r\n" % (WEB, WEB)).encode()
        begin = time.monotonic()
        c.sendall(ask * 20)
        reader = c.makefile("rb")
        for i in range(40):
            status = int(reader.readline().split(b" ")[1])
            equal(status, 200 if i % 2 == 0 else 404)
            length = 0
            while True:
                header = reader.readline()
                if header == b"\r\n":
                    break
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            reader.read(length)
        # One that waits until the server has something else to do waits for seconds, each.
        assert time.monotonic() - begin < 30, "requests behind others wait"


# ---- a kill

def case_before_the_kill():
    script("print('kept')", "kept.py")
    post("/api/dag/save_draft", {"name": "kept", "nodes": [1], "edges": [2]})
    post("/api/dag/submit", {"name": "kept-dag", "jobs": [{"id": "kept-job", "filename": "kept.py"}]})
    equal(titan(SUBMIT_DAG, line("kept-sdk", "print('sdk')")), "DAG_ACCEPTED")
    equal(post("/api/manifest/sync", {
        "DAG-kept-sdk": {"dag": "kept-name", "deps": [], "run_ts": 1, "agent_run_id": "kept-run"},
        "DAG-only": {"dag": "kept-manifest", "deps": [], "run_ts": 1},
        "__payload__kept-name": {"dag_payload": line("kept-sdk", "print('sdk')")}})[0], 200)


def case_after_the_kill():
    equal(get("/api/dag/constructor_state/kept")[1]["nodes"], [1])
    assert "kept.py" in get("/api/perm_files")[1]["files"]
    ends("kept-dag", "COMPLETED")
    ends("kept-name", "COMPLETED")
    equal(statuses("kept-manifest"), {"DAG-only": "WAITING"})
    equal(len(own("/flows?most=100&labels=agent_run_id=kept-run")["flows"]), 1)
    for name in ("kept-dag", "kept-name"):
        equal(post("/api/dag/redeploy/DAG-" + name), (200, {"status": "ok", "response": "DAG_ACCEPTED"}))
        ends(name, "COMPLETED")


def case_payloads_outlive_the_sweep():
    """While blobs that nothing names are removed every few milliseconds."""
    name, file = fresh("swept"), script("print('still here') #" + "x" * 70000)
    post("/api/dag/submit", {"name": name, "jobs": [{"id": name, "filename": file}]})
    ends(name, "COMPLETED")
    end = time.monotonic() + 3  # several sweeps, each of which takes all that is older than its grace
    while time.monotonic() < end:
        equal(post("/api/dag/redeploy/DAG-" + name)[0], 200)
        time.sleep(0.3)


if __name__ == "__main__":
    WEB, TITAN, SERVER, DATA = sys.argv[2:6]
    globals()["case_" + sys.argv[1]]()
