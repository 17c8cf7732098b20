#!/usr/bin/env python3
"""commands.py PROGRAM DOCUMENT [--clone] [--write]: runs the commands of a document and compares what they print. Prints TAP.

All blocks of a document run in order in one empty directory, with PROGRAM as `reeve`:

    ```sh            bash runs the block; it must end with 0, or with N in case of ```sh exit=N
    ```text          right after a block `sh`: what that block prints, standard error included
    ```yaml          a block that begins with the comment `# NAME.yaml` becomes that file
    ```console       is not run, because it needs more than the program; only the commands in UNRUN may stand there

Words that differ from run to run (times, sizes, addresses, hashes, names of machines) are compared as words; a line `…` stands for
any number of lines. --write puts what was printed into the document instead of comparing it.

With --clone a new user is played: the directory is a fresh clone of this tree, nothing is in PATH but what the machine has and what the
document puts there by `export`, and `console` blocks run, too. The one thing that is done for the user is compiling: a `cmake` before the
real one puts PROGRAM where the presets build it.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK_SECONDS_MAX = 60
TAGS = ("sh", "text", "yaml", "console")
UNRUN = ("git ", "make ", "export ", "sudo ", "cd ", "apt ")
HOME = "/home/ann/reeve"  # the directory in which the commands of a document run, as the document shows it
# Accepts what `make` asks of cmake for a preset. Anything else is no part of a first build.
CMAKE = """#!/bin/sh
case "$*" in
"--preset release") ;;
"--build --preset release" | "--build --preset release --target reeve") install -D "$PROGRAM" build/release/reeve ;;
*) echo "cmake: $*: no step of a first build" >&2; exit 1 ;;
esac
"""
FENCE = re.compile(r"^```(.*)$")

# What is compared as a word, and what --write puts in its place (None: what was printed).
VARYING = (
    ("ADDRESS", r"127\.0\.0\.1:\d+", "127.0.0.1:7070"),
    ("TICKET", r"ticket=[0-9a-f]+", "ticket=8f2a6f0bd5cdec5dbb288ff69fd28a6e"),
    ("WORKER", r"\b[A-Za-z0-9][A-Za-z0-9.-]*-[0-9a-f]{6}\b", "pc-b58aef"),
    ("HASH", r"\b[0-9a-f]{64}\b|(?<=--hash )[0-9a-f]+", None),
    ("USER", r"\buid:\d+", "uid:1000"),
    ("TIME", r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?Z| ?UTC| ?[+-]\d\d:?\d\d)?", None),
    ("SIZE", r"\b\d+(\.\d+)? [KMG]iB\b", None),
    ("DURATION", r"\b(\d+(\.\d+)?(ms|s|m|h|d)){1,3}\b", None),
    ("", r", DURATION of cpu", None),  # is there when it is not 0
    ("SLOTS", r"\b\d+/\d+(?=  +(limits|sandbox|-))", None),
    ("OFFERS", r"\b(limits|sandbox)( (limits|sandbox))*\b|-(?=  +\d+\.\d+\.\d+)", None),
    ("VERSION", r"\b\d+\.\d+\.\d+\b", None),
)


class Block:
    def __init__(self, tag, option, line):
        self.tag, self.option, self.line, self.lines, self.end = tag, option, line, [], None

    def text(self):
        return "\n".join(self.lines)


def blocks(lines):
    """Fenced blocks that have a tag; `line` is the index of the first line of the body, `end` that of the closing fence."""
    found, block, is_fenced = [], None, False
    for i, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence and not is_fenced:
            tag, _, option = fence.group(1).strip().partition(" ")
            block, is_fenced = Block(tag, option, i + 1), True
        elif fence:
            block.end, is_fenced = i, False
            found.append(block)
        elif is_fenced:
            block.lines.append(line)
    if is_fenced:
        raise SystemExit(f"the block at line {block.line} has no end")
    return found


def plain(line):
    """A line with what varies as words, and each run of blanks as one."""
    for word, pattern, _ in VARYING:
        line = re.sub(pattern, word, line)
    return re.sub(r"\s+", " ", line).strip()


def shown(line):
    """A line as --write puts it into the document: nothing of this machine in it."""
    for _, pattern, example in VARYING:
        if example is not None:
            line = re.sub(pattern, example, line)
    return line.rstrip()


def fits(expected, printed):
    """Whether the printed lines are the expected ones; `…` fits any number of lines."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == "…" else re.escape(plain(line)) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(plain(line) + "\n" for line in printed)) is not None


def clone(to):
    """What a clone of the next commit has."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout
    for path in filter(None, listed.split("\0")):
        source = os.path.join(ROOT, path)
        if os.path.lexists(source):
            os.makedirs(os.path.join(to, os.path.dirname(path)), exist_ok=True)
            shutil.copy2(source, os.path.join(to, path), follow_symlinks=False)


class Runner:
    def __init__(self, program, is_clone):
        self.folder = tempfile.mkdtemp(prefix="reeve-docs-")
        self.is_clone, self.exports = is_clone, []  # lines `export` of the document; what follows runs in the same shell
        bin_folder = os.path.join(self.folder, "bin")
        self.work = os.path.join(self.folder, "work")
        os.mkdir(bin_folder)
        os.mkdir(self.work)
        if is_clone:
            clone(self.work)
            with open(os.path.join(bin_folder, "cmake"), "w", encoding="utf-8") as f:
                f.write(CMAKE)
            os.chmod(f.name, 0o755)
        else:
            os.symlink(program, os.path.join(bin_folder, "reeve"))
        keep = {name: value for name, value in os.environ.items() if not name.startswith("REEVE_")}
        self.env = dict(keep, PATH=bin_folder + os.pathsep + os.environ["PATH"], HOME=self.work, TZ="UTC", LANG="C.UTF-8",
                        COLUMNS="100", NO_COLOR="1", REEVE_LISTEN="127.0.0.1:0", PYTHONDONTWRITEBYTECODE="1", PROGRAM=program)

    def run(self, text):
        """(exit code, lines) of a block."""
        before = "\n".join(self.exports)
        self.exports += [line for line in text.split("\n") if self.is_clone and line.startswith("export ")]
        done = subprocess.run(["bash", "-e", "-c", before + "\n" + text], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=BLOCK_SECONDS_MAX, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace").replace(self.work, HOME).splitlines()

    def close(self):
        """Ends what the document left running: a first `down` lets jobs end, a second one does not."""
        if os.path.exists(os.path.join(self.work, ".reeve", "up.pid")):
            first = subprocess.Popen([self.env["PROGRAM"], "down"], cwd=self.work, env=self.env)
            try:
                first.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.run('"$PROGRAM" down')
                first.wait(timeout=BLOCK_SECONDS_MAX)
        shutil.rmtree(self.folder, ignore_errors=True)


class Document:
    def __init__(self, path, is_written):
        self.path, self.is_written = path, is_written
        self.number = self.failed = 0
        with open(path, encoding="utf-8") as f:
            self.lines = f.read().split("\n")
        self.changes = []  # (Block, lines)

    def tell(self, is_good, block, text, notes=()):
        self.number, self.failed = self.number + 1, self.failed + (not is_good)
        name = f"{os.path.relpath(self.path, ROOT)}:{block.line}: {text}"
        print(f"{'ok' if is_good else 'not ok'} {self.number} - {name}")
        for note in () if is_good else notes:
            print(f"#   {note}")

    def command(self, runner, block, expected):
        code = int(block.option[5:]) if block.option.startswith("exit=") else 0
        title = next((line for line in block.lines if line.strip()), "")
        try:
            got, printed = runner.run(block.text())
        except subprocess.TimeoutExpired:
            self.tell(False, block, title, [f"not over after {BLOCK_SECONDS_MAX} s"])
            return
        if self.is_written and expected:
            self.changes.append((expected, [shown(line) for line in printed]))
        is_good = got == code and (expected is None or self.is_written or fits(expected.lines, printed))
        self.tell(is_good, block, title, [f"exit code {got}, expected {code}; printed:"] + printed)

    def other(self, runner, block):
        if block.tag == "yaml":
            name = re.match(r"# ([\w.-]+\.yaml)$", block.lines[0]) if block.lines else None
            if name:
                with open(os.path.join(runner.work, name.group(1)), "w", encoding="utf-8") as f:
                    f.write(block.text() + "\n")
        elif block.tag == "console":
            bad = [line for line in block.lines if line.strip() and not line.startswith(UNRUN)]
            self.tell(not bad, block, "commands that are not run need more than the program", bad)

    def check(self, runner):
        every = blocks(self.lines)
        for i, block in enumerate(every):
            after = every[i + 1] if i + 1 < len(every) and every[i + 1].tag == "text" else None
            if block.tag not in TAGS:
                self.tell(False, block, f"a block `{block.tag}` is none of {', '.join(TAGS)}")
            elif block.tag == "sh" or (block.tag == "console" and runner.is_clone):
                self.command(runner, block, after)
            elif block.tag != "text":
                self.other(runner, block)
        for block, printed in reversed(self.changes):
            self.lines[block.line:block.end] = printed
        if self.changes:
            with open(self.path, "w", encoding="utf-8") as f:
                f.write("\n".join(self.lines))


def main():
    program, path = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    document, runner = Document(path, "--write" in sys.argv[3:]), Runner(program, "--clone" in sys.argv[3:])
    try:
        document.check(runner)
    finally:
        runner.close()
    print(f"1..{document.number}")
    return 1 if document.failed or not document.number else 0


if __name__ == "__main__":
    sys.exit(main())
