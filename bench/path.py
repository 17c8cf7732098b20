#!/usr/bin/env python3
"""path.py PROGRAM [--json]: how long the way of one request is through the source: the files that have a line which is
executed between its first byte and its answer.

The real server runs under callgrind; each request is made alone and several times, and a file counts if it was there each
time, so that what the server does now and then by itself does not. Asked are a submit by the native wire and one by HTTP,
both of a flow of one no-op. Files are listed by their folder; the sums are of server, dialect and proto: what a reader
has to open to follow a request into the engine and back.
"""
import argparse
import collections
import glob
import json
import os
import re
import socket
import sys
import tempfile

import counted
from counted import Server

ROUNDS = 5
WARM = 20
FLOW = {"jobs": {"a": {"noop": True}}}
WAY = ("server", "dialect", "proto")


def executed(dump, root):
    """Source files of ours, as src/..., with a line that cost something."""
    names, files, here = {}, set(), None
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
                next(f, None)  # what was called: inclusive, not of this file
            elif re.match(r"[+\-*\d]", line) and here:
                files.add(here)
    # Paths are below the root of the tree, relative in a release build.
    found = {re.sub(r"^.*?/?(src/)", r"\1", name) for name in files if re.search(r"(^|/)src/[a-z_]+/", name)}
    return {name for name in found if os.path.exists(os.path.join(root, name))}


class Lab:
    def __init__(self, program, folder):
        self.server = Server(program, folder)
        self.server.client.pause("default", "tenant")  # nothing is dispatched: the way ends with the answer
        host, port = self.server.line("address").rsplit(":", 1)
        self.place, self.link = (host, int(port)), None
        body = json.dumps(FLOW).encode()
        self.post = (b"POST /api/v1/flows HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\n"
                     b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                     % (port.encode(), self.server.line("admin.token").encode(), len(body), body))

    def by_http(self):
        if self.link is None:
            self.link = socket.create_connection(self.place, timeout=counted.PATIENCE_S)
        self.link.sendall(self.post)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = self.link.recv(65536)
            if not piece:
                raise SystemExit("the server hung up")
            answer += piece
        if not answer.startswith(b"HTTP/1.1 20"):
            raise SystemExit(answer.decode())

    def natively(self):
        self.server.client.submit(FLOW)

    def dump(self):
        before = set(glob.glob(self.server.out + ".*-01"))
        self.server.control("--dump")
        (made,) = set(glob.glob(self.server.out + ".*-01")) - before
        return made

    def way(self, request, root):
        for _ in range(WARM):
            request()
        common = None
        for _ in range(ROUNDS):
            counted.rests(self.server.process)
            self.dump()
            request()
            files = executed(self.dump(), root)
            common = files if common is None else common & files
        return sorted(common)


def measure(program):
    root = os.path.dirname(counted.HERE)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(program, folder)
        try:
            return {"native submit": lab.way(lab.natively, root), "POST /flows": lab.way(lab.by_http, root)}
        finally:
            lab.server.close()


def main():
    p = argparse.ArgumentParser(prog="bench/path.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--json", action="store_true")
    args = p.parse_args()
    ways = measure(os.path.abspath(args.program))
    if args.json:
        print(json.dumps(ways, indent=1))
        return 0
    for name, files in ways.items():
        folders = collections.defaultdict(list)
        for each in files:
            folders[os.path.dirname(each)].append(os.path.basename(each))
        way = [each for each in files if each.split("/")[1] in WAY]
        print(f"{name}: {len(way)} files of {', '.join(WAY)}; {len(files)} in all")
        for folder in sorted(folders):
            print(f"    {folder}: {' '.join(folders[folder])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
