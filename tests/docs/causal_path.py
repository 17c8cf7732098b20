#!/usr/bin/env python3
"""causal_path.py PROGRAM [--show]: the section "Follow one request" of docs/guides/developing.md against the running program.

The section has a list for each request, with functions as `file.c: function` in the order in which they are entered. The server runs
under gdb with a breakpoint at each of them; between the request and its answer they must be hit in that order. A list names no more
files than a reader wants to open. --show prints all hits. Prints TAP.

gdb also stops in most functions that the compiler inlined. For one that it does not find, the guide names the caller.
"""
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import path  # noqa: E402
from counted import Server  # noqa: E402

GUIDE = os.path.join(ROOT, "docs", "guides", "developing.md")
SECTION = "Follow one request"
WARM = 3
# The title of a list, what makes the request, the most files.
REQUESTS = (("A submit by the native wire", path.Lab.native_submit, 22), ("POST /api/v1/flows", path.Lab.http_post, 30))

# Runs inside gdb: writes a line into a file for each function that is entered.
TRACER = """
import gdb
out = open({out!r}, "a", encoding="utf-8")
class Entered(gdb.Breakpoint):
    def __init__(self, name):
        file, function = name.split(": ")
        super().__init__(source=file, function=function)
        self.silent, self.name = True, name
    def stop(self):
        print(self.name, file=out, flush=True)
        return False
gdb.execute("set pagination off")
gdb.execute("set breakpoint pending off")
gdb.execute("set print thread-events off")
gdb.execute("set disable-randomization off")
gdb.execute("handle all nostop noprint pass")
for name in {names!r}:
    Entered(name)
gdb.execute("run")
"""


def lists(text):
    """{title: [name]} of the section; a title is a heading of the third level in it."""
    found = re.search(rf"^## {SECTION}\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f"{GUIDE} has no section '{SECTION}'")
    parts = re.split(r"^### (.*)\n", found.group(1), flags=re.MULTILINE)[1:]
    return {title: re.findall(r"`(\w+\.[ch]: \w+)`", body) for title, body in zip(parts[::2], parts[1::2])}


def hits(program, names, folder):
    """[(title, [name])]: what was entered, in order, between each request and its answer."""
    out, tracer = os.path.join(folder, "hits"), os.path.join(folder, "tracer.py")
    with open(tracer, "w", encoding="utf-8") as f:
        f.write(TRACER.format(out=out, names=sorted(names)))
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"  # it cannot look for leaks while it is traced
    gdb = ("gdb", "-q", "-nx", "-batch", "-x", tracer, "--args")
    lab = path.Lab(Server(program, folder, counts=False, under=gdb))
    try:
        for title, request_of, _ in REQUESTS:
            request = request_of(lab)
            for _ in range(WARM):
                request()
            begin = os.path.getsize(out)
            request()
            with open(out, encoding="utf-8") as f:
                f.seek(begin)
                yield title, f.read().splitlines()
    finally:
        lab.close()


def missing(names, seen):
    """The first of the names that does not follow those before it."""
    rest = iter(seen)
    for name in names:
        if name not in rest:  # takes from the iterator up to its first occurrence
            return name
    return None


def main():
    program = os.path.abspath(sys.argv[1])
    with open(GUIDE, encoding="utf-8") as f:
        said = lists(f.read())
    number = failed = 0

    def tell(is_good, text):
        nonlocal number, failed
        number, failed = number + 1, failed + (not is_good)
        print(f"{'ok' if is_good else 'not ok'} {number} - {text}")

    with tempfile.TemporaryDirectory() as folder:
        for title, seen in hits(program, {name for names in said.values() for name in names}, folder):
            names, most = said.get(title, []), next(each[2] for each in REQUESTS if each[0] == title)
            if "--show" in sys.argv[2:]:
                print(f"# {title}:", *seen, sep="\n#   ")
            lost = missing(names, seen)
            order = "after those before it" if lost in seen else "at all"
            tell(names and lost is None, f"{title}: {len(names)} functions are entered in the order of the guide"
                 + (f"; `{lost}` is not entered {order}" if lost else ""))
            files = {name.split(": ")[0] for name in names}
            tell(0 < len(files) <= most, f"{title}: {len(files)} files are named, {most} may be")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
