"""Plays Titan's clients, from the description of its protocol alone: frames, grammars, texts. Each function named case_…
is one test; what Titan itself gets wrong is asked for as it should be.

    titan_client.py CASE HOST:PORT DATA_DIRECTORY REEVE_BINARY
"""

import base64
import hashlib
import io
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid
import zipfile

HOST = PORT = DATA = REEVE = None

REGISTER, SUBMIT_JOB, SUBMIT_DAG, DEPLOY, RUN, STOP, STATS, STATS_JSON = 2, 3, 4, 5, 6, 7, 8, 9
CLEAN_STATS, KILL_WORKER, GET_LOGS = 0x0B, 0x11, 0x16
ACK, ERROR = 0x50, 0x51
UPLOAD, FETCH, STATUS, CANCEL, DEPLOY_SCRIPT = 0x53, 0x54, 0x55, 0x56, 0x57
KV_SET, KV_GET, KV_SADD, KV_SMEMBERS = 0x60, 0x61, 0x62, 0x63


# ---- frames

def frame(op, body, version=1, flags=0, spare=0):
    body = body.encode() if isinstance(body, str) else body
    return struct.pack(">BBBBI", version, op, flags, spare, len(body)) + body


def connect():
    c = socket.create_connection((HOST, PORT))
    c.settimeout(60)
    return c


def read_exactly(c, count):
    got = b""
    while len(got) < count:
        piece = c.recv(min(1 << 20, count - len(got)))
        if not piece:
            raise EOFError("closed after %d of %d bytes" % (len(got), count))
        got += piece
    return got


def read_frame(c):
    version, op, flags, spare, length = struct.unpack(">BBBBI", read_exactly(c, 8))
    assert (version, flags, spare) == (1, 0, 0), (version, flags, spare)
    return op, read_exactly(c, length)


def ask_bytes(op, body):
    """As the SDK: a connection for each request."""
    with connect() as c:
        c.sendall(frame(op, body))
        return read_frame(c)


def ask(op, body=""):
    got, text = ask_bytes(op, body)
    text = text.decode()
    fails = ("ERROR", "UNKNOWN", "SERVER_ERROR", "UPLOAD_FAILED", "DEPLOY_FAILED")
    assert got == (ERROR if text.startswith(fails) else ACK), (hex(got), text)
    return text


def equal(got, wanted):
    assert got == wanted, "got %r, wanted %r" % (got, wanted)


def begins(got, wanted):
    assert got.startswith(wanted), "got %r, wanted it to begin with %r" % (got, wanted)


def closed_without_a_byte(c):
    try:
        equal(c.recv(1), b"")
    except ConnectionResetError:
        pass


def unique(word):
    return word + "-" + uuid.uuid4().hex[:8]


def b64(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def until(what, wanted, seconds=60):
    """Asks again until it is so: the protocol has no events."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got == wanted or (isinstance(wanted, tuple) and got in wanted):
            return got
        assert time.monotonic() < end, "still %r, wanted %r" % (got, wanted)
        time.sleep(0.01)


def processes(word):
    """The arguments of all that have this word in them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                args = f.read().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if int(pid) != os.getpid() and word in " ".join(args):
            found.append(args)
    return found


def worker_directories():
    """Of workers below the server's directory that have a process, be it only one that keeps jobs for them."""
    return {args[args.index("--data") + 1] for args in processes(DATA) if args[1] == "worker" and "--data" in args}


def reeve(*args):
    env = dict(os.environ, REEVE_DATA=DATA)
    return subprocess.run([REEVE, *args], env=env, capture_output=True, text=True, timeout=60, check=True).stdout


# ---- frames and connections

def case_frames():
    # flags and the spare byte are not looked at
    with connect() as c:
        c.sendall(frame(KV_GET, unique("nobody"), flags=0xFF, spare=0x7F))
        equal(read_frame(c), (ACK, b"NULL"))
    # many frames on one connection, sent at once: answered in order
    with connect() as c:
        key = unique("k")
        long = "x" * 20000  # so much that it does not come at once
        sent = b"".join(frame(KV_SET, "%s%d|v%d%s" % (key, i, i, long)) + frame(KV_GET, "%s%d" % (key, i))
                        for i in range(50))
        sender = threading.Thread(target=c.sendall, args=(sent,))
        sender.start()
        for i in range(50):
            equal(read_frame(c), (ACK, b"OK"))
            equal(read_frame(c), (ACK, b"v%d" % i + long.encode()))
        sender.join()
    # byte by byte, as Titan's own sender nearly does
    with connect() as c:
        for byte in frame(KV_GET, unique("nobody")):
            c.sendall(bytes([byte]))
        equal(read_frame(c), (ACK, b"NULL"))
    # header and body of an answer come in one write: a single recv has both
    with connect() as c:
        c.sendall(frame(KV_GET, unique("nobody")))
        equal(c.recv(8), struct.pack(">BBBBI", 1, ACK, 0, 0, 4))


def case_other_versions_and_too_long_frames_hear_nothing():
    for bad in (frame(STATS, "", version=2), b"\0" * 8, b"GET / HTTP/1.1\r\n\r\n",
                struct.pack(">BBBBI", 1, STATS, 0, 0, 0xFFFFFFFF), struct.pack(">BBBBI", 1, STATS, 0, 0, (64 << 20) + 1)):
        with connect() as c:
            c.sendall(bad)
            closed_without_a_byte(c)


def case_a_frame_may_have_64_mebibytes():
    body = b"k|" + b"x" * ((64 << 20) - 2)
    op, text = ask_bytes(KV_SET, body)
    equal(op, ERROR)  # a value of the store has another limit, and the answer says which
    begins(text, b"ERROR: ")
    equal(ask(KV_SET, unique("k") + "|v"), "OK")


def case_who_hangs_in_half_a_frame_is_dropped():
    with connect() as c:  # the server was told to wait for two seconds
        c.sendall(frame(KV_SET, "a|b")[:9])
        closed_without_a_byte(c)
    with connect() as c:  # nothing at all for longer than that is fine
        time.sleep(2.5)
        c.sendall(frame(KV_GET, unique("nobody")))
        equal(read_frame(c), (ACK, b"NULL"))


def case_who_goes_without_reading_hurts_nobody():
    for _ in range(50):  # reset: what was sent may be lost with the connection
        c = connect()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.sendall(frame(STATS, "") + frame(KV_SET, "reset|perhaps"))
        c.close()
    for _ in range(50):  # closed: what was sent arrives
        with connect() as c:
            c.sendall(frame(KV_SET, "gone|yes"))
    until(lambda: ask(KV_GET, "gone"), "yes")


def case_unknown_opcodes():
    for op in (0x01, 0x0C, 0x0D, 0x18, 0x19, 0x50, 0x51, 0x52, 0x58, 0x59, 0x5A, 0x5B, 0x70, 0x71, 0x00, 0x7F, 0x80, 0xFF):
        equal(ask(op, "whatever"), "UNKNOWN_OPCODE: %d" % (op if op < 128 else op - 256))


# ---- the store

def case_store():
    k = unique("k")
    equal(ask(KV_GET, k), "NULL")
    equal(ask(KV_SET, k + "|v|with|bars\nand lines"), "OK")
    equal(ask(KV_GET, k), "v|with|bars\nand lines")
    equal(ask(KV_SET, k + "|"), "OK")
    equal(ask(KV_GET, k), "")
    equal(ask(KV_SET, "no bar"), "ERROR: Invalid Format")
    equal(ask(KV_SET, ""), "ERROR: Invalid Format")
    equal(ask(KV_SET, k + "|ERROR: as a value"), "OK")
    equal(ask_bytes(KV_GET, k)[1], b"ERROR: as a value")
    s = unique("s")
    equal(ask(KV_SMEMBERS, s), "")
    equal(ask(KV_SADD, s + "|b"), "1")
    equal(ask(KV_SADD, s + "|a"), "1")
    equal(ask(KV_SADD, s + "|a"), "0")
    equal(sorted(ask(KV_SMEMBERS, s).split(",")), ["a", "b"])
    equal(ask(KV_SADD, "no bar"), "ERROR: Invalid Format")
    with connect() as c:  # more than a page of them
        c.sendall(b"".join(frame(KV_SADD, "%s|m%04d" % (s, i)) for i in range(2500)))
        for i in range(2500):
            equal(read_frame(c), (ACK, b"1"))
    equal(len(ask(KV_SMEMBERS, s).split(",")), 2502)


def case_text_of_any_language():
    k = unique("schlüssel")
    for value in ("Grüße", "日本語のテキスト", "🚀" * 1000, "é|ü"):
        equal(ask(KV_SET, k + "|" + value), "OK")
        equal(ask(KV_GET, k), value)
        equal(ask(KV_GET, unique("nobody")), "NULL")


# ---- jobs

def job(job_id, script, name="x.sh", args="", req="GENERAL", prio=1, delay=0, parents=(), affinity=False):
    """As the SDK writes one."""
    return "%s|RUN_PAYLOAD|%s|%s|%s|%s|%d|%d|[%s]%s" % (job_id, name, args, b64(script), req, prio, delay,
                                                        ",".join(parents), "|AFFINITY" if affinity else "")


def submit(*jobs):
    equal(ask(SUBMIT_DAG, " ; ".join(jobs)), "DAG_ACCEPTED")


def status(job_id):
    return ask(STATUS, "DAG-" + job_id)


def wait(job_id, wanted="COMPLETED", seconds=60):
    return until(lambda: status(job_id), wanted, seconds)


def logs(job_id):
    return ask(GET_LOGS, "DAG-" + job_id)


def run(script, **how):
    job_id = unique("j")
    submit(job(job_id, script, **how))
    wait(job_id)
    return logs(job_id)


def file_of_test(word):
    return os.path.join(DATA, unique(word))


def case_a_dag_runs():
    a, b, c = unique("a"), unique("b"), unique("c")
    order = file_of_test("order")
    submit(job(a, "echo a $1 $# >> %s; echo out; echo err >&2" % order, args="one two"),
           job(b, "echo b >> %s" % order, parents=[a]),
           job(c, "import sys\nprint('from python', sys.argv[1:])\nopen('%s', 'a').write('c\\n')" % order, name="c.py",
               args="x 'y z'", parents=[a, "DAG-" + b]))
    wait(c)
    equal(open(order).read(), "a one 2\nb\nc\n")
    equal((status(a), status(b)), ("COMPLETED", "COMPLETED"))
    equal(ask(STATUS, a), "COMPLETED")  # without its prefix, as submit_yaml polls
    equal(logs(a), "out\nerr")
    equal(logs(c), "from python ['x', \"'y\", \"z'\"]")
    equal(ask(GET_LOGS, unique("nobody")), "")
    equal(ask(STATUS, unique("nobody")), "NULL")
    equal(ask(STATUS, "DAG-" + unique("nobody")), "NULL")


def flows():
    return [json.loads(line) for line in reeve("ls", "--label", "dialect=titan", "-o", "jsonl").splitlines()]


def case_it_is_a_flow():
    a = unique("a")
    submit(job(a, "true"), job(a + "2", "true", parents=[a]))
    wait(a + "2")
    found = [f for f in flows() if f.get("name") == "DAG-" + a]
    equal(len(found), 1)
    equal((found[0]["principal"], found[0]["tenant"], found[0]["job_count"]), ("titan", "default", 2))


def case_forms_of_a_dag():
    script = b64("echo $# $1")
    forms = {
        "%s|RUN_PAYLOAD|f.sh|x|" + script + "|GENERAL|1|0|[]": "1 x",        # as the SDK sends it
        "%s|RUN_PAYLOAD|f.sh||" + script + "|GENERAL|1|0|[]": "0",           # without arguments
        "%s|GENERAL|RUN_PAYLOAD|f.sh|x|" + script + "|1|0|[]": "1 x",        # as the document says, four fields
        "%s|GENERAL|RUN_PAYLOAD|f.sh|" + script + "|1|0|[]": "0",            # three, which Titan gets wrong
        "%s|RUN_PAYLOAD|f.sh|" + script + "|GENERAL|1|0|[]": "0",
        " %s | RUN_PAYLOAD | f.sh | x | " + script + " | GENERAL | 1 | 0 | [ ] ": "1 x",
        "%s|RUN_PAYLOAD|some/where/f.sh|x|" + script + "|GENERAL|1|0|[]|AFFINITY": "1 x",
        "%s|RUN_PAYLOAD|f.sh|x|" + script.rstrip("=") + "|GENERAL|1|0|[] | STICKY": "1 x",
        "%s|RUN_PAYLOAD|f.sh|[a] [b]|" + script + "|GENERAL|-3|-5|[]": "2 [a]",
        "\n\t%s|RUN_PAYLOAD|f.sh|x|" + script + "|GENERAL|99999|0|[]\n ;; ; ": "1 x",
    }
    ids = []
    for form in forms:
        job_id = unique("form")
        equal(ask(SUBMIT_DAG, form % job_id), "DAG_ACCEPTED")
        ids.append(job_id)
    for job_id, (form, wanted) in zip(ids, forms.items()):
        wait(job_id)
        equal((form, logs(job_id)), (form, wanted))
    # a prefix that is there already is not put before it again
    job_id = unique("form")
    submit(job("DAG-" + job_id, "true"))
    wait(job_id)


def case_refused_submissions_leave_nothing():
    script = b64("true")
    a = unique("a")
    for text, reason in (
            ("", "ERROR: there is no job in it"),
            (" ; ;", "ERROR: there is no job in it"),
            (a, "ERROR: job `%s`: the list of its parents is missing" % a),
            (a + "|RUN_PAYLOAD|f.sh||" + script + "|GENERAL|1|[]", "ERROR: job `"),
            (a + "|RUN_PAYLOAD|f.sh||" + script + "|GENERAL|high|0|[]", "ERROR: job `"),
            (a + "|RUN_PAYLOAD|f.sh||" + script + "|GENERAL|1|soon|[]", "ERROR: job `"),
            (a + "|RUN_PAYLOAD|f.sh|a|b|c|d|e|GENERAL|1|0|[]", "ERROR: job `"),
            (a + "|RUN_PAYLOAD|f.sh||dGhpcw-x|GENERAL|1|0|[]", "ERROR: job DAG-%s: its file f.sh: Illegal base64 character 2d" % a),
            (a + "|RUN_PAYLOAD||||GENERAL|1|0|[]", "ERROR: job `"),
            (a + "|RUN_PAYLOAD|..||" + script + "|GENERAL|1|0|[]", "ERROR: job `"),
            ("|RUN_PAYLOAD|f.sh||" + script + "|GENERAL|1|0|[]", "ERROR: job `"),
            (job(a, "true", parents=[a]), "ERROR: the jobs wait for each other in a circle"),
            (job(a, "true", parents=["q"]) + ";" + job("q", "true", parents=[a]), "ERROR: the jobs wait for each other"),
            (job(a, "true", parents=[unique("nobody")]), "ERROR: the parent DAG-nobody-"),
            (job(a, "true") + ";" + job("z", "echo").replace("[]", ""), "ERROR: job `"),
            (a + "|RUN_ARCHIVE|nobody.zip/main.py||GENERAL|1|0|[]", "ERROR: job DAG-%s: there is no file nobody.zip" % a)):
        begins(ask(SUBMIT_DAG, text), reason)
        equal(ask(STATUS, a), "NULL")
    begins(ask_bytes(SUBMIT_DAG, b"\xff\xfe|RUN_PAYLOAD|f.sh||" + script.encode() + b"|GENERAL|1|0|[]")[1].decode(),
           "ERROR: the id of a job is not UTF-8")
    begins(ask(SUBMIT_JOB, ""), "ERROR: there is no job in it")
    begins(ask(SUBMIT_JOB, "|||"), "ERROR: ")


def case_a_job_alone():
    script = b64("pwd; echo $#")
    for form in ("%s|RUN_PAYLOAD|f.sh|x|" + script, "%s|RUN_PAYLOAD|f.sh|" + script, "%s|RUN_PAYLOAD|f.sh|x|" + script + "|5|0",
                 "%s|RUN_PAYLOAD|f.sh|x|" + script + "|GENERAL|5|0", "%s|RUN_PAYLOAD|f.sh|" + script + "|10"):
        job_id = unique("alone")
        equal(ask(SUBMIT_JOB, form % job_id), "JOB_ACCEPTED")
        until(lambda: ask(STATUS, job_id), "COMPLETED")
        assert ".shared" not in ask(GET_LOGS, job_id)  # a place of its own
    done = file_of_test("done")
    equal(ask(SUBMIT_JOB, "RUN_PAYLOAD|f.sh|" + b64("echo x > " + done)), "JOB_ACCEPTED")  # nobody learns its id
    until(lambda: os.path.exists(done), True)


def case_files_beside_the_script_are_shared():
    a, b, c = unique("a"), unique("b"), unique("c")
    write = """
import os
here = os.path.dirname(os.path.abspath(__file__))
open(os.path.join(here, "beside-%s"), "w").write("beside")
open(os.path.join(here, "shared", "below-%s"), "w").write("below")
open("here-%s", "w").write("here")
""" % (a, a, a)
    read = """
import os
here = os.path.dirname(os.path.abspath(__file__))
for path in (os.path.join(here, "beside-%s"), os.path.join(here, "shared", "below-%s"), "here-%s", "below-%s"):
    print(open(path).read())
print(os.path.basename(__file__), os.getcwd() == os.path.join(here, "shared"))
""" % (a, a, a, a)
    submit(job(a, write, name="w.py"), job(b, read, name="r.py", parents=[a]))
    wait(b)
    equal(logs(b).split("\n"), ["beside", "below", "here", "below", "r.py True"])
    module = "w_" + a[2:]  # that another job brought
    submit(job(a + "2", "x = 5", name=module + ".py"),
           job(c, "import %s\nprint(%s.x)" % (module, module), name="i.py", parents=[a + "2"]))
    wait(c)
    equal(logs(c), "5")


def case_jobs_know_where_the_server_is():
    a = unique("env")
    submit(job(a, "echo $TITAN_HOST:$TITAN_PORT"))
    wait(a)
    equal(logs(a), "%s:%d" % (HOST, PORT))


def case_a_job_submits_jobs():
    a, b = unique("agent"), unique("child")
    agent = """
import json, os, sys, time
from titan_sdk import TitanClient, TitanJob
from titan_sdk.titan_sdk import OP_STATS_JSON
open("%(child)s.py", "w").write("print('from the child')")
client = TitanClient()
print(client.submit_job(TitanJob("%(child)s", "%(child)s.py", priority=9)))
while client.get_job_status("DAG-%(child)s") not in ("COMPLETED", "DEAD"):
    time.sleep(0.05)
print(client.get_job_status("DAG-%(child)s"), client.fetch_logs("DAG-%(child)s"))
print(client.get_job_status("DAG-%(other)s"))
print(json.loads(client._send_request(OP_STATS_JSON, ""))["active_workers"] > 0)
""" % {"child": b, "other": a + "0"}
    submit(job(a + "0", "true"))
    wait(a + "0")
    submit(job(a, agent, name="agent.py"))
    wait(a)
    equal(logs(a).split("\n"), ["DAG_ACCEPTED", "COMPLETED from the child", "COMPLETED", "True"])
    equal(status(b), "COMPLETED")


def case_a_job_speaks_the_protocol_itself():
    """As with Titan's own SDK: by TITAN_HOST and TITAN_PORT, without a token."""
    a, b = unique("agent"), unique("child")
    agent = """
import os, socket, struct, time
def ask(op, text):
    c = socket.create_connection((os.environ["TITAN_HOST"], int(os.environ["TITAN_PORT"])))
    c.sendall(struct.pack(">BBBBI", 1, op, 0, 0, len(text)) + text.encode())
    got = b""
    while True:  # to the end, as who trusts the server to close
        piece = c.recv(4096)
        if not piece:
            return got[8:].decode()
        got += piece
print(ask(4, "%s"))
while ask(0x55, "DAG-%s") != "COMPLETED":
    time.sleep(0.05)
print(ask(0x16, "DAG-%s"))
""" % (job(b, "echo hi"), b, b)
    submit(job(a, agent, name="agent.py"))
    wait(a)
    equal(logs(a), "DAG_ACCEPTED\nhi")


def case_an_installed_sdk_wins():
    a, place = unique("sdk"), file_of_test("site")
    os.makedirs(os.path.join(place, "titan_sdk"))
    for name, text in (("__init__.py", "from .titan_sdk import TitanClient\n"), ("titan_sdk.py", "TitanClient = 'theirs'\n")):
        with open(os.path.join(place, "titan_sdk", name), "w") as f:
            f.write(text)
    submit(job(a, """
import sys
sys.path.append("%s")  # behind all others, where packages are installed
from titan_sdk import TitanClient
import titan_sdk.titan_sdk
print(TitanClient, titan_sdk.titan_sdk.TitanClient, titan_sdk.__file__.startswith("%s"))
""" % (place, place), name="s.py"))
    wait(a)
    equal(logs(a), "theirs theirs True")


def case_same_names_never_mix():
    ids = [unique("mix") for _ in range(60)]
    submit(*[job(i, "echo %s" % i, name="same.sh") for i in ids])
    for i in ids:
        wait(i)
        equal(logs(i), i)


def case_large_scripts():
    pad = "#" + "x" * 3000000 + "\n"
    ids = [unique("large") for _ in range(3)]
    submit(*[job(i, pad + "echo " + i) for i in ids])
    for i in ids:
        wait(i)
        equal(logs(i), i)


def case_priorities_and_first_come():
    order, gate = file_of_test("order"), file_of_test("gate")
    # the worker has four slots: fill them, so that what comes then has to wait
    fill = [unique("fill") for _ in range(4)]
    submit(*[job(f, "while [ ! -e %s ]; do sleep 0.02; done" % gate) for f in fill])
    for f in fill:
        wait(f, "RUNNING")
    ids = [unique("p") for _ in range(12)]
    for n, i in enumerate(ids):
        submit(job(i, "echo %d >> %s" % (n, order), prio=9 if n == 11 else 1))
    # one goes on: what waited runs one after the other in its slot
    one = unique("one")
    submit(job(one, "true", prio=100))
    equal(ask(CANCEL, "DAG-" + fill[0]), "CANCELLED")
    for i in ids:
        wait(i)
    equal(open(order).read().split(), ["11"] + [str(n) for n in range(11)])
    open(gate, "w").close()
    for f in fill[1:]:
        wait(f)
    wait(fill[0], "CANCELLED")


def case_a_job_that_nobody_can_run_blocks_nobody():
    gpu = unique("gpu")
    submit(job(gpu, "true", req="GPU", prio=100))
    start = time.monotonic()
    for _ in range(5):
        run("true")
    assert time.monotonic() - start < 20
    equal(status(gpu), "PENDING")
    equal(ask(CANCEL, "DAG-" + gpu), "CANCELLED")
    equal(status(gpu), "CANCELLED")
    skill = unique("skill")
    equal(ask(SUBMIT_DAG, "%s|GPU|RUN_PAYLOAD|f.sh|%s|GENERAL|1|0|[]" % (skill, b64("true"))), "DAG_ACCEPTED")
    run("true")
    equal(status(skill), "PENDING")  # what comes before the command counts
    equal(ask(CANCEL, "DAG-" + skill), "CANCELLED")


def case_failures_and_their_descendants():
    a, b, c, d = unique("a"), unique("b"), unique("c"), unique("d")
    runs = file_of_test("runs")
    start = time.monotonic()
    submit(job(a, "echo try >> %s; echo said; exit 3" % runs), job(b, "true", parents=[a]), job(c, "true", parents=[b]),
           job(d, "true"))
    wait(a, "DEAD")
    assert time.monotonic() - start < 20, "four tries at once"
    equal((status(b), status(c)), ("CANCELLED", "CANCELLED"))
    wait(d)
    equal(open(runs).read(), "try\n" * 4)
    equal(logs(a), "said\n" * 3 + "said")
    e = unique("e")  # of a later submission, below one that has failed
    submit(job(e, "true", parents=[a]))
    wait(e, "CANCELLED")


def case_parents_of_earlier_submissions():
    a, b, c = unique("a"), unique("b"), unique("c")
    gate = file_of_test("gate")
    submit(job(a, "true"))
    wait(a)
    submit(job(b, "while [ ! -e %s ]; do sleep 0.02; done" % gate, parents=[a]))
    wait(b, "RUNNING")
    submit(job(c, "echo ran", parents=[a, b]))
    equal(status(c), "PENDING")
    open(gate, "w").close()
    wait(c)
    # a later job of the same id is the one that is meant
    submit(job(a, "exit 1"))
    wait(a, "DEAD")
    d = unique("d")
    submit(job(d, "true", parents=[a]))
    wait(d, "CANCELLED")


def case_two_jobs_of_one_id_both_run():
    a, runs = unique("a"), file_of_test("runs")
    submit(job(a, "echo x >> " + runs), job(a, "echo x >> " + runs))
    until(lambda: os.path.exists(runs) and open(runs).read(), "x\nx\n")
    wait(a)


def case_delays():
    a, b = unique("a"), unique("b")
    start = time.time()
    submit(job(a, "date +%s.%N", delay=1500), job(b, "sleep 1.5; date +%s.%N"),
           job(b + "2", "date +%s.%N", delay=1500, parents=[b]))
    equal(status(a), "PENDING")
    wait(b + "2")
    assert float(logs(b + "2")) - float(logs(b)) < 1.4, "counted from the submission, not from the end of the parent"
    wait(a)
    assert float(logs(a)) - start >= 1.4


def case_cancel():
    slow, child, grandchild, late = unique("slow"), unique("child"), unique("grand"), unique("late")
    began, mark = file_of_test("began"), unique("sleeper")
    done = file_of_test("done")
    submit(job(slow, "(exec -a %s sleep 300) & (exec -a %s sleep 300) & echo > %s; wait" % (mark, mark, began)),
           job(child, "true", parents=[slow]), job(grandchild, "true", parents=[child]),
           job(late, "touch " + done, delay=600000))
    until(lambda: os.path.exists(began), True)
    equal(status(late), "PENDING")
    equal(ask(CANCEL, "DAG-" + late), "CANCELLED")
    equal(status(late), "CANCELLED")
    equal(ask(CANCEL, "DAG-" + late), "NOT_FOUND")
    equal(ask(CANCEL, " DAG-%s \n" % child), "CANCELLED")
    equal((status(child), status(grandchild)), ("CANCELLED", "CANCELLED"))
    equal(ask(CANCEL, "DAG-" + slow), "CANCELLED")
    equal(status(slow), "CANCELLED")  # said when it is so
    until(lambda: processes(mark), [])  # the whole tree
    stubborn, began = unique("stubborn"), file_of_test("began")
    submit(job(stubborn, "trap '' TERM; echo > %s; while :; do sleep 0.1; done" % began))
    until(lambda: os.path.exists(began), True)
    start = time.monotonic()
    equal(ask(CANCEL, "DAG-" + stubborn), "CANCELLED")  # not waited for until it is killed
    assert time.monotonic() - start < 8
    wait(stubborn, "CANCELLED")
    nobody = "DAG-" + unique("nobody")
    equal(ask(CANCEL, nobody), "NOT_FOUND")
    equal(ask(STATUS, nobody), "NULL")
    submit(job(late, "echo again"))  # the id of a cancelled job may come again
    wait(late)
    assert not os.path.exists(done)


def case_timeouts_kill_the_tree():
    """The server was told that a job alone has a second."""
    alone, mark, tries = unique("alone"), unique("sleeper"), file_of_test("tries")
    # children in its group, and one that has left group and session
    script = ("date +%%s.%%N >> %s; (exec -a %s sleep 300) & setsid bash -c 'exec -a %s-away sleep 300' & wait"
              % (tries, mark, mark))
    equal(ask(SUBMIT_JOB, "%s|RUN_PAYLOAD|f.sh|%s" % (alone, b64(script))), "JOB_ACCEPTED")
    until(lambda: ask(STATUS, alone), ("DEAD", "FAILED"))
    over = time.time()
    began = [float(t) for t in open(tries).read().split()]
    equal(len(began), 4)
    for a, b in zip(began, began[1:] + [over]):
        assert 0.8 < b - a < 15, "each had its second, not more: %s until %s" % (began, over)
    equal(processes(mark), [])
    wait_a_while = unique("dag")  # which is not for jobs of a DAG
    submit(job(wait_a_while, "sleep 1.5; echo waited"))
    wait(wait_a_while)


def case_output_of_any_size_in_order():
    lines = 300000
    # a hundred lines a time: the store keeps at most 262,144 pieces of one log, and cuts the middle out of more
    text = run("import sys\nfor k in range(0, %d, 100):\n  sys.stdout.write(''.join('line %%d %%s\\n' %% (i, 'x' * 60) "
               "for i in range(k, k + 100)))" % lines, name="big.py")
    got = text.split("\n")
    equal(len(got), lines)
    equal([int(x.split()[1]) for x in got], list(range(lines)))
    assert len(text) > (20 << 20)
    a = unique("a")  # and no later than the status
    for _ in range(20):
        submit(job(a, "echo last"))
        wait(a)
        equal(logs(a), "last")


# ---- files

def case_files():
    name = unique("f") + ".bin"
    data = bytes(range(256)) * 5
    equal(ask(FETCH, name), "ERROR_NOT_FOUND")
    equal(ask(UPLOAD, name + "|" + b64(data)), "UPLOAD_SUCCESS")
    equal(ask(FETCH, " %s\n" % name), b64(data))
    equal(ask(UPLOAD, name + "|" + b64("new")), "UPLOAD_SUCCESS")
    equal(ask(FETCH, name), b64("new"))
    equal(ask(UPLOAD, name + "|"), "UPLOAD_SUCCESS")
    equal(ask(FETCH, name), "")
    equal(ask(UPLOAD, "no bar"), "ERROR: Invalid Upload Payload")
    for bad in ("../x", "a/../../x", "/etc/x", "", "..", "a/.."):
        equal(ask(UPLOAD, bad + "|" + b64("x")), "ERROR: Invalid asset name (path traversal rejected)")
        equal(ask(DEPLOY_SCRIPT, bad + "|" + b64("x")), "ERROR: Invalid script name (path traversal rejected)")
    equal(ask(UPLOAD, "sub/x|" + b64("x")), "UPLOAD_FAILED: uploads/sub/x")
    equal(ask(DEPLOY_SCRIPT, "sub/x|" + b64("x")), "DEPLOY_FAILED: perm_files/sub/x")
    equal(ask(UPLOAD, "x|!!!"), "UPLOAD_FAILED: Illegal base64 character 21")
    equal(ask(UPLOAD, "x|abcde"), "UPLOAD_FAILED: Last unit does not have enough valid bits")
    equal(ask(DEPLOY_SCRIPT, "x|!!!"), "DEPLOY_FAILED: Illegal base64 character 21")
    equal(ask(DEPLOY_SCRIPT, "no bar"), "ERROR: Invalid Deploy Payload")
    equal(ask(FETCH, "../admin.token"), "ERROR_NOT_FOUND")
    equal(ask(FETCH, ""), "ERROR_NOT_FOUND")
    # one name space
    equal(ask(DEPLOY_SCRIPT, name + "|" + b64("deployed")), "DEPLOY_SUCCESS")
    equal(ask(FETCH, name), b64("deployed"))


def case_large_files():
    name, data = unique("large"), os.urandom(1 << 20) * 30
    equal(ask(UPLOAD, name + "|" + b64(data)), "UPLOAD_SUCCESS")  # four times what Titan takes
    assert ask(FETCH, name) == b64(data)


def case_run_a_file():
    name, done = unique("job") + ".sh", file_of_test("done")
    equal(ask(RUN, name), "ERROR: File not found recursively in perm_files")
    equal(ask(RUN, ""), "ERROR: Missing filename")
    equal(ask(DEPLOY_SCRIPT, name + "|" + b64("echo ran; touch " + done)), "DEPLOY_SUCCESS")
    said = ask(RUN, name + "|GENERAL")
    found = re.fullmatch(r"JOB_QUEUED(TSK-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}) on GENERAL", said)
    assert found, said
    until(lambda: ask(STATUS, found.group(1)), "COMPLETED")
    equal(ask(GET_LOGS, found.group(1)), "ran")
    assert os.path.exists(done)


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in files.items():
            z.writestr(name, text)
    return out.getvalue()


def case_archives():
    name, a = unique("project") + ".zip", unique("a")
    data = zipped({"app/main.py": "import os, sys, helper\nprint(helper.word, sys.argv[1:], os.path.basename(os.getcwd()))",
                   "app/helper.py": "word = 'helped'", "top.sh": "echo top $1"})
    equal(ask(UPLOAD, name + "|" + b64(data)), "UPLOAD_SUCCESS")
    equal(ask(SUBMIT_DAG, "%s|RUN_ARCHIVE|%s/app/main.py|one two|GENERAL|1|0|[] ; %s2|RUN_ARCHIVE|%s/top.sh|x|GENERAL|1|0|[%s]"
              % (a, name, a, name, a)), "DAG_ACCEPTED")
    wait(a + "2")
    equal(logs(a), "helped ['one', 'two'] app")
    equal(logs(a + "2"), "top x")


# ---- services

SERVER = """
import http.server, os, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write((' '.join(sys.argv[1:]) or 'served').encode())
    def log_message(self, *a): pass
print('serving', flush=True)
http.server.HTTPServer(('127.0.0.1', %d), H).serve_forever()
"""


def free_port():
    with socket.socket() as c:
        c.bind(("127.0.0.1", 0))
        return c.getsockname()[1]


def get(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as c:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            got = b""
            while piece := c.recv(4096):
                got += piece
            return got.split(b"\r\n\r\n")[-1].decode()
    except OSError:
        return None


def case_services():
    svc, port = unique("svc"), free_port()
    equal(ask(SUBMIT_DAG, "%s|DEPLOY_PAYLOAD|srv.py|%s|%d|GENERAL|1|0|[]" % (svc, b64(SERVER % port), port)), "DAG_ACCEPTED")
    wait(svc)  # it answers by then
    equal(get(port), "served")
    node = [w for w in json.loads(ask(STATS_JSON))["workers"] if "DAG-" + svc in w["services"]]
    equal(len(node), 1)
    assert "\n    \u2514\u2500\u2500 [SVC] Service ID: DAG-%s\n" % svc in ask(STATS)
    equal(logs(svc), "serving")
    equal(ask(STOP, ""), "ERROR: Missing Service ID")
    nobody = "DAG-" + unique("nobody")
    begins(ask(STOP, nobody), "ERROR: Service %s not found in liveServiceMap. Current keys: [DAG-%s" % (nobody, svc))
    equal(ask(STOP, "DAG-" + svc), "STOPPED: DAG-" + svc)
    until(lambda: get(port), None)
    until(lambda: [w for w in json.loads(ask(STATS_JSON))["workers"] if "DAG-" + svc in w["services"]], [])
    begins(ask(STOP, "DAG-" + svc), "ERROR: Service DAG-%s not found in liveServiceMap." % svc)


def case_what_a_failed_deployment_wrote():
    """Nobody listens at its port in time: it is DEAD, its process is gone, and what that wrote can be read."""
    svc = unique("mute")
    script = "import time\nprint('first words', flush=True)\ntime.sleep(1000)\n"
    equal(ask(SUBMIT_DAG, "%s|DEPLOY_PAYLOAD|mute.py|%s|%d|GENERAL|1|0|[]" % (svc, b64(script), free_port())), "DAG_ACCEPTED")
    wait(svc, "DEAD")
    until(lambda: logs(svc), "first words")
    equal(ask(GET_LOGS, svc), "first words")  # without its prefix, as by the dashboard


def case_services_of_files_and_archives():
    name, port = unique("srv") + ".py", free_port()
    equal(ask(DEPLOY, "nobody.py|%d|GENERAL" % port), "ERROR: File not found in perm_files")
    equal(ask(DEPLOY, ""), "ERROR: Server File IO issue")
    equal(ask(DEPLOY_SCRIPT, name + "|" + b64(SERVER % port)), "DEPLOY_SUCCESS")
    equal(ask(DEPLOY, "%s|%d|GENERAL" % (name, port)), "DEPLOY_QUEUED")
    until(lambda: get(port), "served")
    for worker in json.loads(ask(STATS_JSON))["workers"]:
        for service in worker["services"]:
            if service.startswith("TSK-"):
                equal(ask(STOP, service), "STOPPED: " + service)
    until(lambda: get(port), None)
    zip_name, svc, port = unique("z") + ".zip", unique("svc"), free_port()
    equal(ask(UPLOAD, zip_name + "|" + b64(zipped({"in/srv.py": SERVER % port}))), "UPLOAD_SUCCESS")
    equal(ask(SUBMIT_DAG, "%s|START_ARCHIVE_SERVICE|%s/in/srv.py|the args|%d|GENERAL|1|0|[]" % (svc, zip_name, port)),
          "DAG_ACCEPTED")
    wait(svc)
    equal(get(port), "the args")
    equal(ask(STOP, "DAG-" + svc), "STOPPED: DAG-" + svc)
    until(lambda: get(port), None)


# ---- the same data by RESP

def resp(*words):
    host, port = os.environ["TITAN_RESP"].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as c:
        c.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words))
        f = c.makefile("rb")

        def value():
            line = f.readline()[:-2]
            if line[:1] in b"*~":
                return [value() for _ in range(int(line[1:]))]
            if line[:1] == b"$":
                return None if line == b"$-1" else f.read(int(line[1:]) + 2)[:-2].decode()
            return None if line == b"_" else line[1:].decode()
        return value()


def case_keys_as_the_store_of_titan_has_them():
    k, a, gate = unique("k"), unique("a"), file_of_test("gate")
    equal(ask(KV_SET, k + "|Grüße"), "OK")
    equal(resp("GET", "user:" + k), "Grüße")
    equal(resp("SET", "user:" + k, "back"), "OK")
    equal(ask(KV_GET, k), "back")
    equal(ask(KV_SADD, k + "s|x"), "1")
    equal(resp("SMEMBERS", "user:%ss" % k), ["x"])
    script = "while [ ! -e %s ]; do sleep 0.02; done" % gate
    before = int(time.time() * 1000)
    submit(job(a, script, args="p q", prio=7), job(a + "2", "true", parents=[a], delay=500))
    wait(a, "RUNNING")
    equal(resp("GET", "job:DAG-%s:status" % a), "RUNNING")
    equal(resp("GET", "job:DAG-%s2:status" % a), "PENDING")
    equal(resp("GET", "job:DAG-%s:payload" % a), "RUN_PAYLOAD|x.sh|p q|%s|GENERAL|DAG-%s" % (b64(script), a))
    equal(resp("GET", "job:DAG-%s:priority" % a), "7")
    assert before - 500 <= int(resp("GET", "job:DAG-%s2:delay" % a)) < before + 60000
    port = json.loads(ask(STATS_JSON))["workers"][0]["port"]
    equal(resp("GET", "job:DAG-%s:worker" % a), str(port))
    equal(resp("GET", "job:%s:status" % unique("nobody")), None)
    equal(sorted(m for m in resp("SMEMBERS", "system:active_jobs") if a in m), ["DAG-" + a, "DAG-%s2" % a])
    equal(resp("SMEMBERS", "system:live_workers"), ["127.0.0.1:%d" % port])
    open(gate, "w").close()
    wait(a + "2")
    equal([m for m in resp("SMEMBERS", "system:active_jobs") if a in m], [])


# ---- statistics and workers

def case_statistics():
    text = ask(STATS)
    found = re.fullmatch("\n--- TITAN SYSTEM MONITOR ---\nActive Workers:    1\nExecution Queue:   \\d+ jobs\nDelayed \\(Time\\):    "
                         "\\d+ jobs\nBlocked \\(DAG\\):     \\d+ jobs\nDead Letter \\(DLQ\\): \\d+ jobs\n"
                         "-------------------------------\nWorker Status:\n"
                         " \u2022 \\[(\\d+)\\] Load: 0/4 \\(0%\\)     \\| Skills: \\[GENERAL\\]\n", text)
    assert found, text
    port = found.group(1)
    begins(ask(STATS_JSON), '{"active_workers": 1,"queue_size": 0,"workers": [{"port": %s,"capabilities": "[GENERAL]",'
                            '"load": "0/4","active_job": null, "history": [' % port)
    equal(ask(CLEAN_STATS), "Stats Map Cleared. Run STATS again to see fresh state.")
    gate, run_id, done = file_of_test("gate"), unique("run"), [unique("h") for _ in range(15)]
    for d in done:
        submit(job(d, "true"))
        wait(d)
    submit(job(run_id, "while [ ! -e %s ]; do sleep 0.02; done" % gate), job(run_id + "b", "true", parents=[run_id]),
           job(run_id + "d", "true", delay=600000))
    wait(run_id, "RUNNING")
    text = ask(STATS)
    assert "Load: 1/4 (25%)    | Skills" in text and "Delayed (Time):    1 jobs\nBlocked (DAG):     1 jobs\n" in text, text
    raw = ask(STATS_JSON)
    worker = json.loads(raw)["workers"][0]
    equal((worker["load"], worker["active_job"]), ("1/4", "DAG-" + run_id))
    equal((worker["history"][0]["id"], worker["history"][0]["status"]), ("DAG-" + run_id, "RUNNING"))
    assert re.search('{"id": "DAG-%s", "status": "RUNNING", "time": "\\d+ms"}' % run_id, raw), raw
    assert re.search('{"id": "DAG-%s", "status": "COMPLETED", "time": "\\d+ms", "completed_at": \\d{13}}' % done[0], raw), raw
    ids = [h["id"] for h in worker["history"]]
    equal([i for i in ids if i[4:] in done], ["DAG-" + d for d in done])  # complete, the oldest first
    equal(str(worker["port"]), port)
    open(gate, "w").close()
    wait(run_id)
    equal(ask(CANCEL, "DAG-%sd" % run_id), "CANCELLED")


def ports():
    return sorted(w["port"] for w in json.loads(ask(STATS_JSON))["workers"])


def case_workers_come_and_go():
    equal(ask(KILL_WORKER, "127.0.0.1"), "ERROR: Payload must be HOST|PORT")
    equal(ask(KILL_WORKER, "127.0.0.1|x"), "ERROR: Invalid Port Format")
    equal(ask(KILL_WORKER, "127.0.0.1|1"), "ERROR: Worker node 1 not found in registry.")
    before, running = ports(), worker_directories()
    equal(ask(DEPLOY, "Worker.jar|8099|GPU"), "DEPLOY_QUEUED")
    until(ports, sorted(before + [8099]))
    equal(len(worker_directories()), len(running) + 1)
    assert " \u2022 [8099] Load: 0/4 (0%)     | Skills: [GPU]\n" in ask(STATS)
    gpu = unique("gpu")
    submit(job(gpu, "true", req="GPU"))
    wait(gpu)
    worker = [w for w in json.loads(ask(STATS_JSON))["workers"] if w["port"] == 8099][0]
    equal([h["id"] for h in worker["history"]], ["DAG-" + gpu])
    for _ in range(8):  # as there: who claims GPU takes nothing else
        run("true")
    worker = [w for w in json.loads(ask(STATS_JSON))["workers"] if w["port"] == 8099][0]
    equal(len(worker["history"]), 1)
    equal(ask(KILL_WORKER, "127.0.0.1|8099"), "SUCCESS: Worker 8099 and 0 services shut down.")
    until(ports, before)
    until(worker_directories, running)  # it is no more, not only forgotten


def case_a_load_brings_workers_and_its_end_sends_them_away():
    """Of a server that may have one to three workers with a slot each."""
    until(lambda: len(ports()), 1)
    gate, ids = file_of_test("gate"), [unique("load") for _ in range(6)]
    submit(*[job(i, "while [ ! -e %s ]; do sleep 0.02; done; echo ran" % gate) for i in ids])
    try:
        until(lambda: [status(i) for i in ids].count("RUNNING"), 3)  # each on a worker of its own
        equal((len(ports()), json.loads(ask(STATS_JSON))["queue_size"]), (3, 3))
        equal(len(worker_directories()), 3)
    finally:  # else nobody could end them
        open(gate, "w").close()
    for i in ids:
        wait(i)
        equal(logs(i), "ran")
    until(lambda: (len(ports()), len(worker_directories())), (1, 1))
    equal(run("echo still here"), "still here")


# ---- a server that is killed in between: titan_test.c does that

NOTE = "killed.json"


def case_before_the_kill():
    a, gate, order = unique("k"), file_of_test("gate"), file_of_test("order")
    chain = [job("%s%d" % (a, i), "while [ ! -e %s ]; do sleep 0.02; done; echo %d >> %s" % (gate, i, order),
                 parents=["%s%d" % (a, i - 1)] if i else []) for i in range(8)]
    submit(*chain)
    wait(a + "0", "RUNNING")
    equal(ask(KV_SADD, a + "|één"), "1")
    equal(ask(KV_SADD, a + "|zwei"), "1")
    equal(ask(KV_SET, a + "-text|日本"), "OK")
    equal(ask(UPLOAD, a + "|" + b64(a)), "UPLOAD_SUCCESS")
    dead = unique("dead")
    submit(job(dead, "exit 1"), job(dead + "b", "touch " + file_of_test("never"), parents=[dead]))
    wait(dead, "DEAD")
    with open(os.path.join(DATA, NOTE), "w") as f:
        json.dump({"a": a, "gate": gate, "order": order, "dead": dead}, f)


def case_after_the_kill():
    with open(os.path.join(DATA, NOTE)) as f:
        n = json.load(f)
    a = n["a"]
    equal(sorted(ask(KV_SMEMBERS, a).split(",")), ["zwei", "één"])
    equal(ask(KV_GET, a + "-text"), "日本")
    equal(ask(FETCH, a), b64(a))
    equal((status(n["dead"]), status(n["dead"] + "b")), ("DEAD", "CANCELLED"))
    equal(status(a + "7"), "PENDING")
    open(n["gate"], "w").close()
    wait(a + "7")
    equal(open(n["order"]).read().split(), [str(i) for i in range(8)])  # in order, each once
    equal(status(n["dead"] + "b"), "CANCELLED")


def case_files_outlive_the_sweep():
    """The server was told to look for blobs without a name all the time."""
    name, old = unique("f"), os.urandom(40000)
    digest = hashlib.sha256(old).hexdigest()
    equal(ask(UPLOAD, name + "|" + b64(old)), "UPLOAD_SUCCESS")
    equal(ask(UPLOAD, name + "2|" + b64("kept")), "UPLOAD_SUCCESS")
    assert digest in reeve("blob", "ls")
    equal(ask(UPLOAD, name + "|" + b64("new")), "UPLOAD_SUCCESS")
    until(lambda: digest in reeve("blob", "ls"), False)  # nothing names it any more, and it went
    equal(ask(FETCH, name), b64("new"))
    equal(ask(FETCH, name + "2"), b64("kept"))


def case_dead_is_called_failed():
    a = unique("a")
    submit(job(a, "exit 1"), job(a + "b", "true", parents=[a]))
    wait(a, "FAILED")
    equal(status(a + "b"), "CANCELLED")

# ---- run one

if __name__ == "__main__":
    name, address, DATA, REEVE = sys.argv[1:5]
    HOST, PORT = address.rsplit(":", 1)
    PORT = int(PORT)
    globals()["case_" + name]()
