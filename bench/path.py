#!/usr/bin/env python3
"""path.py PROGRAM [--json | --test | --record]: the source files that one request runs through.

A file counts if a line of it is executed by the loop's thread between the first byte of the request and the first byte of
its answer. The real server runs under callgrind, which empties its counters when bytes of a connection are read (READ) and
dumps them before bytes are written (WRITE); so neither what comes after the answer nor an idle server is in a dump.
Each request is warmed up and then made ROUNDS times; what a timer did in between is not in every round and drops out.

Requests: a submit by the native wire (WIRE_SUBMIT with a typed job, as `reeve bench` sends it) and POST /api/v1/flows, both of a
flow of one no-op in a paused tenant, so that nothing is dispatched. The counts are of server, dialect and proto: what a reader opens
to follow a request into the engine and back. Lines are mapped to functions by the source, so inlined ones are named too.

--test prints TAP: no more files than bench/path.json says, and no more files of other dialects. --record writes what was
counted there; it never raises a figure. What is missing to the targets is printed beside each count.
"""
import argparse
import bisect
import collections
import glob
import json
import os
import re
import socket
import sys
import tempfile

import counted
from counted import HERE, Server, protocol
from reeve._wire import Op

ROOT = os.path.dirname(HERE)
RECORD = os.path.join(HERE, "path.json")
ROUNDS = 5
WARM = 20
READ, WRITE = "have_read", "uv_try_write"  # src/os/osnet.c, libuv
WAY = ("server", "dialect", "proto")
# The goal: the most files of WAY, and the dialect that may be among them.
TARGETS = {"native submit": (16, "native"), "POST /flows": (30, "http")}

# ---- what callgrind says ----


def executed(dump):
    """{file: lines} of our sources, as src/..., that cost something."""
    names, lines, here, at, inclusive = {}, collections.defaultdict(set), None, 0, False
    with open(dump, encoding="utf-8", errors="replace") as f:
        for line in f:
            found = re.match(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$", line.rstrip("\n"))
            if found:
                kind, number, name = found.groups()
                if name:  # said once, and meant by the number from then on
                    names[number] = name
                if not kind.startswith("c"):
                    here = names[number]
            elif line.startswith("calls="):
                inclusive = True  # the next line is the cost of what was called
            elif (moved := re.match(r"([+\-]?\d+|\*)(?: |$)", line)):
                step = moved.group(1)
                at = at if step == "*" else at + int(step) if step[0] in "+-" else int(step)
                if here and not inclusive:
                    lines[here].add(at)
                inclusive = False
    ours = collections.defaultdict(set)
    for name, numbers in lines.items():
        # Paths are below the root of the tree, relative in a release build.
        if re.search(r"(^|/)src/[a-z_]+/", name):
            short = re.sub(r"^.*?/?(src/)", r"\1", name)
            if os.path.exists(os.path.join(ROOT, short)):
                ours[short] |= numbers
    return ours


def functions(path):
    """[(first line, name)] of the functions that a file defines: their heads begin in the first column and end in `) {`."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    heads = re.finditer(r"^(?:__attribute__\(\(.*\)\)\s+)?[A-Za-z_][^\n={;(]*?(\w+)\([^;{}]*\) \{$", text, re.MULTILINE)
    return [(text.count("\n", 0, head.start()) + 1, head.group(1)) for head in heads]


def named(path, lines):
    """The functions that these lines are in, in the order of the file."""
    known = functions(path)
    starts = [start for start, _ in known]
    inside = {bisect.bisect_right(starts, line) - 1 for line in lines}
    return [known[index][1] for index in sorted(inside) if index >= 0]


# ---- the requests ----


class Lab:
    def __init__(self, server):
        self.link, self.server = None, server
        server.client.pause("default", "tenant")  # nothing is dispatched: the way ends with the answer

    def connect(self):
        if self.link is not None:
            self.link.close()
        host, port = self.server.line("address").rsplit(":", 1)
        self.link = socket.create_connection((host, int(port)), timeout=counted.PATIENCE_S)

    def close(self):
        if self.link is not None:
            self.link.close()
        self.server.close()

    def receive(self):
        piece = self.link.recv(65536)
        if not piece:
            raise SystemExit("the server closed the connection")
        return piece

    def ask(self, reader, frame):
        self.link.sendall(frame)
        got = []
        while not got:
            got = reader.feed(self.receive())
        protocol.check(got[0])
        return got[0]

    # What follows opens a connection and returns a function that makes the request once.

    def native_submit(self):
        self.connect()
        reader = protocol.Reader()
        self.ask(reader, protocol.pack(Op.HELLO, protocol.hello(self.server.line("admin.token"), "", "path", "client"), 1))
        part = {"options": [{"kind": "noop"}], "jobs": [{"name": "a"}]}
        submit = protocol.pack(Op.SUBMIT, {"flows": [{"name": "path", "part": part}]}, 2)

        def request():
            (flow,) = self.ask(reader, submit).message["flows"]
            if flow["code"]:
                raise SystemExit(flow["message"])
        return request

    def http_post(self):
        self.connect()
        body = json.dumps({"jobs": {"a": {"noop": True}}})
        post = (f"POST /api/v1/flows HTTP/1.1\r\nHost: {self.server.line('address')}\r\n"
                f"Authorization: Bearer {self.server.line('admin.token')}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()

        def request():
            self.link.sendall(post)
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += self.receive()
            if not answer.startswith(b"HTTP/1.1 20"):
                raise SystemExit(answer.decode())
        return request

    def dumps(self):
        return set(glob.glob(self.server.out + ".*-01"))

    def round(self, request):
        before = self.dumps()
        request()
        lines = collections.defaultdict(set)
        for dump in self.dumps() - before:
            for path, numbers in executed(dump).items():
                lines[path] |= numbers
        if not lines:
            raise SystemExit(f"nothing was counted: is there no {READ} or {WRITE} in the program?")
        return lines

    def way(self, request):
        """{file: [function]}"""
        for _ in range(WARM):
            request()
        rounds = []
        for _ in range(ROUNDS):
            counted.rests(self.server.process)
            rounds.append(self.round(request))
        files = set.intersection(*(set(each) for each in rounds))
        return {path: named(path, set.intersection(*(each[path] for each in rounds))) for path in sorted(files)}


def measure(program):
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Server(program, folder, callgrind=(f"--zero-before={READ}", f"--dump-before={WRITE}")))
        try:
            return {"native submit": lab.way(lab.native_submit()), "POST /flows": lab.way(lab.http_post())}
        finally:
            lab.close()


# ---- what is said ----


def figures(ways):
    """{request: {"files": of WAY, "other_dialects": of dialects but its own}}"""
    said = {}
    for name, way in ways.items():
        _, dialect = TARGETS[name]
        folders = [path.split("/")[1:-1] for path in way]
        foreign = [folder for folder in folders if folder[0] == "dialect" and folder[1:2] != [dialect]]
        said[name] = {"files": sum(folder[0] in WAY for folder in folders), "other_dialects": len(foreign)}
    return said


def table(ways):
    for name, count in figures(ways).items():
        print(f"{name}: {count['files']} files of {', '.join(WAY)} (target {TARGETS[name][0]}), "
              f"{count['other_dialects']} of other dialects (target 0); {len(ways[name])} files in all")
        folders = collections.defaultdict(list)
        for path in ways[name]:
            folders[os.path.dirname(path)].append(path)
        for folder, paths in folders.items():
            print(f"    {folder}: {len(paths)}")
            for path in paths:
                print(f"        {os.path.basename(path):24} {' '.join(ways[name][path])}")


def recorded():
    with open(RECORD, encoding="utf-8") as f:
        return json.load(f)


def record(counts):
    old = recorded() if os.path.exists(RECORD) else counts
    least = {name: {what: min(count, old[name][what]) for what, count in each.items()} for name, each in counts.items()}
    with open(RECORD, "w", encoding="utf-8") as f:
        json.dump(least, f, indent=4)
        f.write("\n")


def test(counts):
    old, number, failed = recorded(), 0, 0
    for name, each in counts.items():
        for what, count in each.items():
            number, target = number + 1, TARGETS[name][0] if what == "files" else 0
            is_good = count <= old[name][what]
            failed += not is_good
            note = "; fewer than recorded, `bench/path.py --record` keeps it so" if count < old[name][what] else ""
            print(f"{'ok' if is_good else 'not ok'} {number} - {name}: {what.replace('_', ' ')} {count}, "
                  f"recorded {old[name][what]}, target {target}{note}")
    print(f"1..{number}")
    return 1 if failed else 0


def main():
    p = argparse.ArgumentParser(prog="bench/path.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--test", action="store_true")
    form.add_argument("--record", action="store_true")
    args = p.parse_args()
    ways = measure(os.path.abspath(args.program))
    if args.json:
        print(json.dumps(ways, indent=1))
    elif args.test:
        return test(figures(ways))
    else:
        table(ways)
        if args.record:
            record(figures(ways))
    return 0


if __name__ == "__main__":
    sys.exit(main())
