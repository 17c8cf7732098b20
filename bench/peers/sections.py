"""Parts of documents that programs write: each stands between two marks, and what is around them belongs to somebody else.

A document is read, changed and put in its place whole: who is interrupted leaves it as it was."""
import os
import re

RESULTS = {"own": "make bench", "peers": "make bench-peers"}  # the sections of bench/RESULTS.md, and who writes them
HEAD = """# Figures

Two programs write here, each its own section and not the other's, with its own date and machine; nobody edits them by hand. How to read them, and what limits what:
[docs/benchmarks.md](../docs/benchmarks.md).
"""


class Broken(Exception):
    """The marks of a document are not what they have to be; nothing was written."""


def marks(name):
    return f"<!-- {name}: written by a program, not by hand -->\n", f"<!-- end of {name} -->\n"


def cut(text, name, said):
    """What is before a section, in it, and behind it."""
    begin, end = marks(name)
    for mark in (begin, end):
        count = len(re.findall("^" + re.escape(mark), text, re.M))
        if count != 1:
            raise Broken(f"{said}: the line {mark.strip()} has to be there once, not {count} times")
    head, rest = text.split(begin)
    if end not in rest:
        raise Broken(f"{said}: the line {end.strip()} stands before its beginning")
    body, tail = rest.split(end)
    return head + begin, body, end + tail


def replaced(text, name, part, said="the document"):
    head, _, tail = cut(text, name, said)
    return head + part.strip("\n") + "\n" + tail


def write(path, text):
    """All of it or nothing."""
    unfinished = path + ".new"
    try:
        with open(unfinished, "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise


def read(path, otherwise=""):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return otherwise


def put(path, name, part, otherwise=""):
    """Replaces a section of a document; `otherwise` is the document when there is none."""
    write(path, replaced(read(path, otherwise), name, part, path))


def empty_results():
    """bench/RESULTS.md before anything was measured."""
    parts = [HEAD]
    for name, command in RESULTS.items():
        parts.append(f"Not measured yet: `{command}` writes it.\n".join(marks(name)))
    return "\n".join(parts)


def deeper(text):
    """A document as a section of another: its headings are a level further down."""
    return re.sub(r"^(#+) ", r"\1# ", text, flags=re.M)
