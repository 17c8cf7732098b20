#!/usr/bin/env python3
"""text.py [FOLDER]: the rules for documents that a program can check. Prints TAP, one test per rule, with every offence.

    width       a line has at most 160 columns, outside tables and code
    words       no phrase of the table PHRASES, outside code; pages made from tables are left out, their words stand in src/
    anchors     a link `#heading` leads to a heading of its document, `FILE.md#heading` to one of that file
    promises    README.md and docs/promises.md promise the same
    messages    the messages of docs/troubleshooting.md (first column; `…`, N and capital words stand for anything) are in src/
    verbs       what documents write as `reeve VERB --flag` is a verb with this flag
    index       docs/README.md lists every document in docs/, docs/adr/README.md every decision with its title
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH = 160
# Phrase, and where it is refused.
PHRASES = (("unless said", r""), ("whoever", r"README\.md|docs/(?!adr/|guides/developing)"))
# Written by programs: `make docs`, `make bench`, `make coverage`. Their hand-written parts are in docs/src/.
MADE = ("docs/limits.md", "docs/metrics.md", "docs/coverage.md", "docs/formats/records.md", "docs/formats/snapshot-objects.md",
        "docs/formats/wire.md", "docs/guides/flows.md", "docs/guides/agents.md", "bench/RESULTS.md", "bench/GROWTH.md")


MEASURED = ("bench/RESULTS.md", "bench/GROWTH.md", "docs/coverage.md")  # their lines are those of other programs
# Have long lines from before this rule. A line may go from this list; none is added.
LATER = ("CONTRIBUTING.md", "docs/guides/developing.md", "sim/README.md", "tests/browser/README.md", "src/assembly/README.md",
         "src/cli/README.md", "src/dialect/README.md", "src/journal/README.md", "src/server/README.md")


def documents():
    """Paths of the documents of the tree, without what a build or a package manager put there."""
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True,
                          text=True, check=False)
    found = done.stdout.split("\n") if done.returncode == 0 else glob.glob("**/*.md", recursive=True)
    return sorted(path for path in found if path and os.path.exists(path) and "node_modules/" not in path
                  and not path.startswith("build/"))


def prose(path):
    """(number, line) of the lines of a document that are neither code nor a table."""
    is_fenced, before = False, ""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f.read().split("\n"), 1):
            if re.match(r"\s*(```|~~~)", line):
                is_fenced = not is_fenced
            elif not is_fenced and not line.lstrip().startswith("|") and not is_indented_code(line, before):
                yield number, line
            before = line


def is_indented_code(line, before):
    return line.startswith("    ") and (not before.strip() or before.startswith("    ")) and not re.match(r"\s*([-*]|\d+\.) ", line)


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


# ---- rules: each yields its offences ----

def width(paths):
    for path in paths:
        if path in MEASURED or path in LATER:
            continue
        for number, line in prose(path):
            if len(line) > WIDTH:
                yield f"{path}:{number}: {len(line)} columns"


def words(paths):
    for path in paths:
        if path in MADE:
            continue
        for number, line in prose(path):
            plain = re.sub(r"`[^`]*`", "", line).lower()
            for phrase, where in PHRASES:
                if re.match(where, path) and re.search(rf"\b{phrase}\b", plain):
                    yield f"{path}:{number}: \"{phrase}\""


def anchors_of(path):
    """Names that headings have as targets of links, by the rules of GitHub."""
    seen = {}
    for _, line in prose(path):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()).replace(" ", "-")
            count = seen[name] = seen.get(name, -1) + 1
            yield f"{name}-{count}" if count else name


def anchors(paths):
    known = {}
    for path in paths:
        if path.startswith("docs/src/"):  # its links are relative to the page that is made of it
            continue
        for target in re.findall(r"\]\(([^)\s]*\.md|)#([^)\s]+)\)", re.sub(r"(?ms)^```.*?^```", "", text_of(path))):
            file = os.path.normpath(os.path.join(os.path.dirname(path), target[0])) if target[0] else path
            if not os.path.exists(file):
                yield f"{path}: there is no file {target[0]}"
                continue
            if file not in known:
                known[file] = set(anchors_of(file))
            if target[1] not in known[file]:
                yield f"{path}: {target[0]}#{target[1]} leads to no heading"


def promised(path):
    """[(when, then)] of the table of promises."""
    rows = re.search(r"\n\| when \| then \|.*?\n\| ---.*?\n((?:\|.*\n)+)", text_of(path))
    return [tuple(cell.strip() for cell in row.split(" | ")[:2]) for row in rows.group(1).replace(" |\n", "\n").splitlines()] if rows else []


def promises(_):
    here, there = promised("README.md"), promised("docs/promises.md")
    if len(here) < 8:
        yield f"README.md: {len(here)} promises, 8 at least"
    for row in here:
        if row not in there:
            yield f"docs/promises.md lacks: {row[0]} | {row[1]}"
    for row in there:
        if row not in here:
            yield f"README.md lacks: {row[0]} | {row[1]}"


def strings_of_the_program():
    """The text of all C files below src/, with strings that go over several lines joined."""
    every = [text_of(path) for path in sorted(glob.glob("src/**/*.[ch]", recursive=True))]
    return re.sub(r'"\s*\n?\s*"', "", "\n".join(every))


def messages(_):
    known, count = strings_of_the_program(), 0
    for row in re.findall(r"^\| `([^`]+)`(?! prints).*? \|", text_of("docs/troubleshooting.md"), re.MULTILINE):
        for piece in re.split(r"…|\b[A-Z]+\b", row):
            count += 1
            if piece.strip(" ;?") not in known:
                yield f"docs/troubleshooting.md: the program never says \"{piece.strip()}\""
    if count < 20:
        yield f"docs/troubleshooting.md: only {count} messages were found"


def manual():
    """{verb: its flags} of the manual page, which is made from the table of verbs, and the flags that every verb has."""
    flags, every = {}, set()
    for section in re.split(r"(?m)^\.S[SH] ", text_of("docs/man/reeve.1").replace("\\-", "-")):
        heading, _, rest = section.partition("\n")
        if heading.startswith('"reeve '):
            words = re.match(r'"reeve ((?:[a-z]+ ?)+)', heading).group(1).strip()
            flags[words] = set(re.findall(r"--[a-z-]+", heading + rest)) | set(re.findall(r"\\fB(-\w)\\fR", rest))
        elif heading.startswith("FLAGS"):
            every = set(re.findall(r"--[a-z-]+", rest)) | set(re.findall(r"\\fB(-\w)\\fR", rest))
    return flags, every


# Their flags are tables of their own: settings, options of workers, limits.
OWN_FLAGS = ("serve", "worker", "scaler", "up", "bench", "crashtest")


def words_of_settings():
    return set(re.findall(r"[a-z][a-z0-9_]+", re.sub(r"(?<=[a-z0-9])-(?=[a-z])", "_", "\n".join(
        text_of(path) for folder in ("program", "limits", "scale", "bench", "agent") for path in sorted(glob.glob(f"src/{folder}/*.[ch]"))))))


def commands_of(path):
    """(line number, text after `reeve `) of the commands in code of a document."""
    is_fenced = False
    for number, line in enumerate(text_of(path).split("\n"), 1):
        if line.startswith("```"):
            is_fenced = not is_fenced
        code = [line] if is_fenced or re.match(r" {4}\S", line) else re.findall(r"`([^`]+)`", line)
        for piece in code:
            for found in re.finditer(r"(?:^|[|;&(]\s*|^\s+)(?:build/release/)?reeve ([a-z][^|;&#)]*)", piece):
                yield number, found.group(1)


def verbs(paths):
    flags, every = manual()
    groups, settings = {words.split()[0] for words in flags}, words_of_settings()
    for path in paths:
        if path.startswith(("docs/adr/", "bench/", "CHANGELOG")):  # of their time
            continue
        for number, text in commands_of(path):
            words = text.split(" -- ")[0].split()
            verb = next((v for v in (" ".join(words[:2]), words[0]) if v in flags), None)
            if verb is None:
                if words[0] not in groups and re.fullmatch(r"[a-z]+", words[0]):
                    yield f"{path}:{number}: there is no verb `{words[0]}`"
                continue
            for flag in (word.partition("=")[0] for word in words[1:]):
                if not re.fullmatch(r"--[a-z][a-z-]+|-[a-zA-Z]", flag) or flag in flags[verb] or flag in every:
                    continue
                if verb not in OWN_FLAGS or flag[2:].replace("-", "_") not in settings:
                    yield f"{path}:{number}: `reeve {verb}` has no flag {flag}"


def index(paths):
    listed = set(re.findall(r"\]\(([^)#]+)[^)]*\)", text_of("docs/README.md")))
    for path in paths:
        name = os.path.relpath(path, "docs")
        if path.startswith("docs/") and not path.startswith(("docs/src/", "docs/adr/0")) and name not in listed and name != "README.md":
            yield f"docs/README.md does not list {name}"
    decisions = text_of("docs/adr/README.md")
    for path in paths:
        found = re.match(r"docs/adr/(\d{4}-.*\.md)$", path)
        if found:
            heading = text_of(path).split("\n", 1)[0]
            title = re.match(r"# (\d{4}): (.*)", heading)
            if not title:
                yield f"{path}: the first line is not `# NUMBER: TITLE`"
            elif f"| [{title.group(1)}]({found.group(1)}) | {title.group(2)} |" not in decisions:
                yield f"docs/adr/README.md does not list {title.group(1)} as \"{title.group(2)}\""


RULES = ((width, f"no line of a document has more than {WIDTH} columns"), (words, "documents are written in plain words"),
         (anchors, "links to headings lead to one"), (promises, "README.md and docs/promises.md promise the same"),
         (messages, "the messages of docs/troubleshooting.md are those of the program"),
         (verbs, "documents name verbs and flags that there are"), (index, "the indices list every document and decision"))


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else ROOT)
    paths, failed = documents(), 0
    if len(paths) < 50:
        print(f"Bail out! only {len(paths)} documents were found")
        return 1
    for number, (rule, meaning) in enumerate(RULES, 1):
        offences = list(rule(paths))
        failed += bool(offences)
        print(f"{'not ok' if offences else 'ok'} {number} - {meaning}")
        for offence in offences:
            print(f"#   {offence}")
    print(f"1..{len(RULES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
