#!/usr/bin/env python3
"""The recipes of docs/guides/developing.md: their patches are applied to a copy of the tree, all together; what they touch
is compiled as the build would, linked with the rest of the build, and what they add is used. The places to edit that a
recipe names are counted. Prints TAP.

    recipes.py BUILD_DIRECTORY
"""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GUIDE = "docs/guides/developing.md"
SECONDS = 120  # for anything
NICE = 3  # of the server that is started: the setting of a recipe
DIALECT = "dialect/line"  # the room of the recipe of a dialect

# The most places that one may have (a file or folder of its own included).
PLACES_MAX = {"A kind of job": 6, "An option of a job": 3, "A setting": 2, "A request": 5, "A part of the server": 2,
              "A dialect": 3, "A journal engine": 2}


def run(*command, **how):
    got = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS * 5, **how)
    assert got.returncode == 0, "%s\n%s" % (" ".join(command)[:300], got.stdout[-3000:])
    return got.stdout


# ---- a copy with the patches

def copy_tree(tree):
    """All that the build is configured from."""
    for name in os.listdir(ROOT):
        source, to = os.path.join(ROOT, name), os.path.join(tree, name)
        if name in ("build", ".git", ".reeve"):  # `make up` may run here
            continue
        if os.path.isdir(source):
            shutil.copytree(source, to, symlinks=True, ignore=shutil.ignore_patterns("node_modules", "dist", "__pycache__"))
        else:
            shutil.copy(source, to)


def recipes():
    """Name, text and patch of each."""
    with open(os.path.join(ROOT, GUIDE)) as file:
        text = file.read()
    text = text[text.index("\n## Recipes\n"):]
    return re.findall(r"\n### ([^\n]+)\n(.*?)\n```diff\n(.*?)```\n", text[:text.index("\n## ", 1)], re.S)


def places(patch):
    """A C file is one, each hunk of a header is one, a new folder is one; tests are on top."""
    count, folders = 0, set()
    for old, path, body in re.findall(r"^--- (\S+)\n\+\+\+ b/(\S+)\n(.*?)(?=^--- |\Z)", patch, re.M | re.S):
        folder = os.path.dirname(path)
        if path.startswith("tests/"):
            continue
        if old == "/dev/null" and not os.path.isdir(os.path.join(ROOT, folder)):
            folders.add(folder)
        else:
            count += body.count("\n@@ ") + body.startswith("@@ ") if path.endswith(".h") else 1
    return count + len(folders)


def count_places(name, text, patch):
    said = re.search(r"\*Places to edit: (\d+)\b", text)
    assert said, "the recipe does not say how many places it has"
    same(places(patch), int(said.group(1)))
    assert int(said.group(1)) <= PLACES_MAX[name], "there are more than %d places" % PLACES_MAX[name]


def patch(tree, text):
    """The files that it touches."""
    run("patch", "-p1", "--no-backup-if-mismatch", "-s", input=text, cwd=tree)
    return re.findall(r"^\+\+\+ b/(\S+)", text, re.M)


# ---- what they touch, built

class Build:
    """Objects and archives of a build that is there, and new ones of the files that were changed, compiled as the copy
    is configured."""

    def __init__(self, build, tree, place):
        self.build, self.tree, self.place = os.path.abspath(build), tree, place
        self.configure()
        with open(os.path.join(place, "compile_commands.json")) as file:
            every = [(os.path.relpath(e["file"], tree), shlex.split(e["command"])) for e in json.load(file)]
        self.commands = {path: words for path, words in every if self.is_of_the_program(self.object_of(words))}

    def configure(self):
        with open(os.path.join(self.build, "CMakeCache.txt")) as file:
            known = dict(re.findall(r"^(REEVE_PROFILE|CMAKE_C_COMPILER):\w+=(.*)$", file.read(), re.M))
        run("cmake", "-S", self.tree, "-B", self.place, "-G", "Ninja", *["-D%s=%s" % pair for pair in known.items()])

    @staticmethod
    def object_of(words):
        return words[words.index("-o") + 1]

    @staticmethod
    def is_of_the_program(name):
        return re.search(r"CMakeFiles/reeve(_[a-z_]+)?(?<!_mutants)\.dir/src/", name) is not None

    def outdated(self, changed):
        """Sources that are changed, or include what is."""
        wanted = {os.path.join(ROOT, path) for path in changed}
        found, name = set(), None
        objects = {self.object_of(words): path for path, words in self.commands.items()}
        for line in run("ninja", "-C", self.build, "-t", "deps").splitlines():
            if line.startswith("    "):
                if os.path.normpath(os.path.join(self.build, line.strip())) in wanted and name in objects:
                    found.add(objects[name])
            else:
                name = line.split(":")[0]
        return sorted(found | {p for p in changed if p.endswith(".c") and not os.path.exists(os.path.join(ROOT, p))})

    def compile(self, path):
        words = self.commands[path]
        out = self.object_of(words)
        os.makedirs(os.path.dirname(os.path.join(self.place, out)), exist_ok=True)
        words += ["-O0", "-g0"]  # with all warnings and sanitizers, but in half the time
        run(*words, cwd=self.place)
        return out

    def link(self, objects):
        command = run("ninja", "-C", self.place, "-t", "commands", "-s", "reeve").strip()
        for word in shlex.split(command):
            source, to = os.path.join(self.build, word), os.path.join(self.place, word)
            if word.endswith((".a", ".o")) and not os.path.isabs(word) and os.path.exists(source) and not os.path.exists(to):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy(source, to)
        for layer in {re.search(r"CMakeFiles/(\w+)\.dir", o).group(1) for o in objects}:
            if layer != "reeve":
                run("ar", "r", "lib%s.a" % layer, *[o for o in objects if "/%s.dir/" % layer in o], cwd=self.place)
        run("sh", "-c", command, cwd=self.place)
        return os.path.join(self.place, "reeve")

    def program(self, changed):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as some:
            objects = list(some.map(self.compile, self.outdated([p for p in changed if p.startswith("src/")])))
        return self.link(objects)


def build_program(build, tree, place, changed):
    return Build(build, tree, place).program(changed)


# ---- what was built, used

class Lab:
    def __init__(self, program, place):
        self.program, self.place, self.data = program, place, os.path.join(place, "data")
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.titan = s.getsockname()[1]
        self.log = open(os.path.join(place, "log"), "wb")
        self.processes = []
        try:
            self.begin()
        except BaseException:
            self.close()
            raise

    def begin(self):
        self.start("serve", "--listen", "127.0.0.1:0", "--titan-listen", "127.0.0.1:%d" % self.titan, "--nice", str(NICE))
        self.until(lambda: os.path.exists(os.path.join(self.data, "address")), "the server does not start")
        self.address, self.token = self.text("address"), self.text("admin.token")
        for name, label in (("spare", "last_resort=yes"), ("usual", "last_resort=no")):
            self.start("worker", "--name", name, "--label", label, data=os.path.join(self.data, name))
        self.until(lambda: self.cli("workers").count(" here ") == 2, "the workers do not come")

    def start(self, verb, *args, data=None):
        self.processes.append(subprocess.Popen([self.program, verb, "--data", data or self.data, *args], stderr=self.log,
                                               env=dict(os.environ, REEVE_DATA=self.data)))

    def text(self, name, data=None):
        with open(os.path.join(data or self.data, name)) as file:
            return file.read().strip()

    def until(self, fact, otherwise):
        end = time.monotonic() + SECONDS
        while not fact():
            assert time.monotonic() < end and self.processes[0].poll() is None, otherwise
            time.sleep(0.05)

    def cli(self, *args, **how):
        return run(self.program, *args, env=dict(os.environ, REEVE_DATA=self.data), **how)

    def get(self, path):
        request = urllib.request.Request("http://%s%s" % (self.address, path),
                                         headers={"Authorization": "Bearer " + self.token, "Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.headers.get_content_type(), answer.read()

    def native(self, opcode, body):
        """Opcode and body of the answer to a request of the native protocol, behind a hello with the admin's token."""
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=SECONDS) as c:
            stream = c.makefile("rb")
            for number, (op, message) in enumerate([(1, bytes([2, 2, 4, 2, 11]) + text(self.token)), (opcode, body)], 1):
                c.sendall(struct.pack(">BBBBIII", 2, op, 0, 0, number, 0, len(message)) + message)
                head = struct.unpack(">BBBBIII", stream.read(16))
                answer = stream.read(head[6])
            return head[1], answer

    def ask(self, opcode, text):
        with socket.create_connection(("127.0.0.1", self.titan), timeout=SECONDS) as c:
            c.sendall(struct.pack(">BBBBI", 1, opcode, 0, 0, len(text)) + text.encode())
            answer = c.makefile("rb")
            return answer.read(struct.unpack(">BBBBI", answer.read(8))[4]).decode()

    def close(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            self.stop(process)
        self.log.close()

    @staticmethod
    def stop(process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


def text(words):
    """A length below 128 and the bytes, as in a field of a message."""
    assert len(words) < 128
    return bytes([len(words)]) + words.encode()


def submit(lab, text):
    return lab.cli("submit", "-", "--wait", input=text).split()[0]


def a_kind_of_job(lab, tree):
    flow = submit(lab, json.dumps({"jobs": {"a": {"python": "print(6 * 7)"}}}))
    assert lab.cli("logs", flow + "/a").strip() == "42"


def an_option_of_a_job(lab, tree):
    job = {"run": "exit 3", "retries": 0}
    submit(lab, json.dumps({"jobs": {"a": dict(job, good_exit_codes=[3, 4])}}))  # else it is a failure of the command
    got = subprocess.run([lab.program, "submit", "-", "--wait"], input=json.dumps({"jobs": {"a": job}}), text=True,
                         env=dict(os.environ, REEVE_DATA=lab.data), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert got.returncode != 0, "exit code 3 is a success also where nothing says so"


def a_setting(lab, tree):
    same(os.getpriority(os.PRIO_PROCESS, lab.processes[0].pid), NICE)
    assert re.search(r"^nice +7 +flag$", lab.cli("config", "--nice", "7"), re.M)
    assert re.search(r"^  --nice +how far .* \(0\)$", lab.cli("serve", "--help"), re.M)
    got = subprocess.run([lab.program, "serve", "--data", lab.data, "--nice", "20"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert "nice: 20 is not between 0 and 19" in got.stdout, got.stdout


def a_request(lab, tree):
    same(lab.native(207, b"\x03" + text("is there anybody")), (208, b"\x03" + text("is there anybody")))


def a_part_of_the_server(lab, tree):
    job = {"run": "exit 9", "retries": 0}
    flow = lab.cli("submit", "-", input=json.dumps({"jobs": {"broken": job}})).split()[0]
    told = lambda: re.search(r" alarm +%s/broken failed; \d+ did$" % flow, lab.text("log", lab.place), re.M)
    lab.until(told, "the log does not tell of the failure")
    with open(os.path.join(tree, "src/assembly/parts.c")) as table, open(os.path.join(tree, "tests/unit/parts_test.c")) as pin:
        listed = re.findall(r"^    X\((\w+)\)", table.read(), re.M)
        same(re.findall(r'"(\w+)",', pin.read().split("order[] = {")[1].split("}")[0]), listed)


def a_dialect(lab, tree):
    flow = lab.cli("submit", "-", input=json.dumps({"jobs": {"held": {"gate": "?"}}})).split()[0]
    host, port = lab.address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=SECONDS) as c:
        stream = c.makefile("r")
        for target in (flow + "/held", "f1zz/none"):
            c.sendall(("%s %s\n" % (lab.token, target)).encode())
        told, refused = stream.readline(), stream.readline()
        same(json.loads(lab.cli("why", flow + "/held", "--json"))["text"], told.strip())
        assert "f1zz" in refused, refused
        c.sendall(b"nobody f1/held\n")
        assert "token" in stream.readline()
        same(stream.readline(), "")  # it is ended
    got = run(os.path.join(tree, "tests/layering/includes.sh"), os.path.join(lab.place, "build/layers.txt"), "cc", DIALECT, cwd=tree)
    assert "%s is built with" % DIALECT in got, got


def a_journal_engine(lab, tree):
    data = os.path.join(lab.place, "in_memory")
    assert re.search(r"^  --journal .*nothing survives a stop", lab.cli("serve", "--help"), re.M)
    lab.start("serve", "--listen", "127.0.0.1:0", "--journal", "ram", data=data)
    lab.until(lambda: os.path.exists(os.path.join(data, "address")), "the server does not start")
    known = dict(os.environ, REEVE_DATA=data)
    flow = run(lab.program, "submit", "-", input=json.dumps({"jobs": {"held": {"gate": "?"}}}), env=known).split()[0]
    assert flow in run(lab.program, "ls", "--json", env=known)
    process = lab.processes.pop()
    lab.stop(process)
    same(process.returncode, 0)
    same([name for _, _, names in os.walk(data) for name in names if name.endswith(".seg")], [])
    got = subprocess.run([lab.program, "serve", "--data", data, "--journal", "ram"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert "the journal ends at record 0" in got.stdout, got.stdout  # nothing survived, and that is not overlooked


def an_opcode_of_titans(lab, tree):
    assert (lab.ask(0x64, "k"), lab.ask(0x60, "k|v"), lab.ask(0x64, "k")) == ("0", "OK", "1")


def a_page_of_the_console(lab, tree):
    packages = [p for p in (os.path.join(ROOT, "console/node_modules"), os.path.join(ROOT, "build/console/tree/console/node_modules"))
                if os.path.isdir(p)]
    if not packages:
        print("# the console was not built here: its types are not checked")
        return
    os.symlink(packages[0], os.path.join(tree, "console/node_modules"))
    run("npm", "run", "--silent", "check", cwd=os.path.join(tree, "console"))
    assert lab.get("/numbers")[0] == "text/html"


def a_rule_of_placement(lab, tree):
    flow = submit(lab, json.dumps({"jobs": {"j%d" % i: {"sleep": "300ms"} for i in range(4)}}))
    jobs = [json.loads(line) for line in lab.cli("ls", flow, "-o", "jsonl").splitlines()]
    where = [job["worker"].rsplit("-", 1)[0] for job in jobs]
    assert where == ["usual"] * 4, where


def a_metric(lab, tree):
    with socket.create_connection(("127.0.0.1", lab.titan), timeout=SECONDS):
        lab.until(lambda: b"\nreeve_foreign_connections 1\n" in lab.get("/metrics")[1], "it is not counted")
    assert json.loads(lab.cli("stats", "--json"))["numbers"]["foreign_connections"] in (0, 1)


def a_verb(lab, tree):
    assert re.search(r"^ +ping +whether the server answers$", lab.cli("help", "--all"), re.M), lab.cli("help", "--all")
    assert lab.cli("ping").endswith(" answers\n")


CHECKS = {"A kind of job": a_kind_of_job, "An option of a job": an_option_of_a_job, "A setting": a_setting,
          "A request": a_request, "A part of the server": a_part_of_the_server, "A dialect": a_dialect,
          "A journal engine": a_journal_engine, "An opcode of Titan's": an_opcode_of_titans,
          "A page of the console": a_page_of_the_console, "A rule of placement": a_rule_of_placement,
          "A metric": a_metric, "A verb": a_verb}


def same(got, wanted):
    assert got == wanted, "got %r, wanted %r" % (got, wanted)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, fn, *args):
        self.count += 1
        try:
            got = fn(*args)
            print("ok %d - %s" % (self.count, name), flush=True)
            return got
        except Exception as wrong:  # whatever it is, it is told, and the others have their turn
            self.failed += 1
            print("not ok %d - %s" % (self.count, name))
            print("\n".join("# " + line for line in str(wrong or repr(wrong)).split("\n")), flush=True)
            return None


def main(build):
    tap, work = Tap(), tempfile.mkdtemp(prefix="reeve-recipes-")
    tree, place = os.path.join(work, "tree"), os.path.join(work, "build")
    os.makedirs(place)
    try:
        copy_tree(tree)
        found = recipes()
        tap.check("each recipe has a check, and each check its recipe", same, [name for name, _, _ in found], list(CHECKS))
        changed = []
        for name, text, change in found:
            changed += tap.check("%s: its patch applies" % name, patch, tree, change) or []
            if name in PLACES_MAX:
                tap.check("%s: it has the places that it says" % name, count_places, name, text, change)
        program = tap.check("all of them build", build_program, build, tree, place, changed) if not tap.failed else None
        lab = tap.check("it runs", Lab, program, work) if program else None
        if lab:
            try:
                for name, _, _ in found:
                    tap.check("%s: it is there" % name, CHECKS[name], lab, tree)
            finally:
                lab.close()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
