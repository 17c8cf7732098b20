"""What `make bench` and `make bench-growth` write, and where; without measuring anything. Prints TAP.

    python3 bench/test_own.py
"""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(1, os.path.join(HERE, "peers"))
sys.path.insert(2, os.path.join(os.path.dirname(HERE), "sdk", "python", "tests"))

import ab  # noqa: E402
import growth_draw  # noqa: E402
import own  # noqa: E402
import sections  # noqa: E402

WITH = '{"payload_bytes":200,"connections":1,"in_flight":1,"jobs_per_request":1,"jobs":null,"workers":0,"sync":"before each answer"}'
LISTED = ['{"workload":"W1","text":"one at a time","version":"9.9","settings":%s}' % WITH,
          '{"workload":"W4","text":"a round trip","version":"9.9","settings":%s}' % WITH]
MEASURED = ['{"workload":"W1","value":900,"unit":"/s","rounds":5,"min":800,"max":1000,"floor":1200,"ratio":0.75,"syncs":450,"operations":900,'
            '"target":1080,"met":false,"version":"9.9","settings":%s}' % WITH,
            '{"workload":"W4","value":500.5,"unit":"us","rounds":5,"min":490,"max":600,"floor":400,"ratio":0.799,"syncs":1000,"operations":500,'
            '"target":550,"met":true,"version":"9.9","settings":%s}' % WITH,
            '{"workload":"W4","shape":"bare","value":450,"unit":"us","rounds":5,"min":440,"max":460,"floor":null,"ratio":null,"syncs":0,'
            '"operations":0,"target":null,"met":null,"version":"9.9","settings":%s}' % WITH]
README = "# It\n\n%sold\n%s\nthe end\n" % sections.marks("own")


class Tree:
    """A tree for own.py, which takes the one it stands in, with a program that measures nothing."""

    def __init__(self, folder, measured=tuple(MEASURED), ending="exit 0"):
        self.folder = folder
        for name in ("bench", "docs"):
            os.makedirs(os.path.join(folder, name))
        for name in ("own.py", "peers"):
            os.symlink(os.path.join(HERE, name), os.path.join(folder, "bench", name))
        self.program = os.path.join(folder, "reeve")
        self.put("README.md", README)
        self.put("docs/benchmarks.md", README)
        self.put("bench/RESULTS.md", sections.replaced(sections.empty_results(), "peers", "of others"))
        self.put("listed", "\n".join(LISTED) + "\n")
        self.put("measured", "\n".join(measured) + "\n")
        self.put("reeve", f'#!/bin/sh\ncase "$*" in *--list*) cat {folder}/listed;; *) cat {folder}/measured; {ending};; esac\n')
        os.chmod(self.program, 0o755)

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def get(self, name):
        return sections.read(os.path.join(self.folder, name))

    def everything(self):
        return {name: self.get(name) for name in ("README.md", "docs/benchmarks.md", "bench/RESULTS.md", "bench/own.json")}

    def start(self, *args):
        return subprocess.Popen([sys.executable, os.path.join(self.folder, "bench", "own.py"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=dict(os.environ, REEVE_BINARY=self.program))

    def run(self, *args):
        with self.start(*args) as process:
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "tree")

    def test_a_whole_run_replaces_its_sections_and_nothing_else(self):
        tree = Tree(self.folder)
        done = tree.run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nof others\n", tree.get("bench/RESULTS.md"))
        self.assertNotIn("Not measured yet: `make bench` ", tree.get("bench/RESULTS.md"))
        for name in ("README.md", "docs/benchmarks.md"):
            self.assertTrue(tree.get(name).endswith("the end\n"))
            self.assertNotIn("old", tree.get(name))

    def test_figures_are_shown_while_it_runs(self):
        self.assertRegex(Tree(self.folder).run().stdout, r"W1 +900 /s  800\.\.1,000 +floor 1,200  ratio 0\.75 +target ≥ 1,080 /s MISSED +450 syncs")

    def test_a_row_has_all_that_was_measured(self):
        tree = Tree(self.folder)
        tree.run()
        text = tree.get("bench/RESULTS.md")
        self.assertIn("| W1 | 900 /s | 800 … 1,000 | 1,200 /s | 0.75 | ≥ 1,080 /s | **missed** | 450 | 900 | 500 |", text)
        self.assertIn("| W4 | 500 µs | 490 … 600 | 400 µs | 0.80 | ≤ 550 µs | met | 1,000 | 500 | 2,000 |", text)
        self.assertIn("| W4 (bare) | 450 µs | 440 … 460 |  |  |  |  |  |  |  |", text)
        self.assertIn("1 of 2 targets are met; missed: W1.", text)
        for word in ("reeve 9.9", "rounds: 5", "| load before the run |", "| kernel |"):
            self.assertIn(word, text)
        self.assertEqual(text.count("| one at a time |"), 1)

    def test_the_short_tables_have_the_same_figures_in_plain_words(self):
        tree = Tree(self.folder)
        tree.run()
        targets, readme = tree.get("docs/benchmarks.md"), tree.get("README.md")
        self.assertRegex(targets, r"\| W1 \| [^|]+ \| 900 /s \| 1,200 /s \| ≥ 1,080 /s \| \*\*missed\*\* \|")
        self.assertRegex(targets, r"\| W2 \| [^|]+ \| not measured \|")
        self.assertRegex(readme, r"\n\| durable submits from one client[^|]+ \| 900 /s \| 1,200 /s \|\n")
        self.assertRegex(readme, r"\n\| durable submits from 64 clients \| not measured \|  \|\n")

    def test_a_run_of_some_workloads_or_a_quick_one_writes_nothing(self):
        tree = Tree(self.folder, MEASURED[:1])
        before = tree.everything()
        for args in (["--only", "W1"], ["--quick"]):
            done = tree.run(*args)
            self.assertIn("nothing was written", done.stdout)
            self.assertEqual((done.returncode, tree.everything()), (0, before))

    def test_a_run_that_fails_writes_nothing(self):
        tree = Tree(self.folder, ending="exit 3")
        before = tree.everything()
        done = tree.run()
        self.assertIn("ended with 3; nothing was written", done.stderr)
        self.assertEqual((done.returncode, tree.everything()), (1, before))

    def test_who_interrupts_it_changes_nothing(self):
        tree = Tree(self.folder, ending="exec sleep 600")
        before = tree.everything()
        for number in (signal.SIGINT, signal.SIGTERM):
            with tree.start() as process:
                while not process.stdout.readline().startswith("W4 (bare)"):
                    self.assertIsNone(process.poll())
                process.send_signal(number)
                process.communicate(timeout=60)  # it has this output, too: it is gone
            self.assertNotEqual(process.returncode, 0)
            self.assertEqual(tree.everything(), before)

    def test_broken_marks_are_refused_before_anything_is_measured(self):
        tree = Tree(self.folder)
        tree.put("README.md", README.replace(sections.marks("own")[1], ""))
        done = tree.run()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("<!-- end of own --> has to be there once, not 0 times", done.stderr)
        self.assertNotIn("W1", done.stdout)

    def test_a_figure_edited_by_hand_is_found_and_rendered_away(self):
        tree = Tree(self.folder)
        tree.run()
        self.assertEqual(tree.run("--check").returncode, 0)
        tree.put("README.md", tree.get("README.md").replace("900 /s", "9,000 /s"))
        done = tree.run("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not ok 3 - README.md", done.stdout)
        tree.run("--render")
        self.assertEqual(tree.run("--check").returncode, 0)


class Growth(unittest.TestCase):
    """The curves of make bench-growth."""
    record = {"version": "reeve 9.9", "date": "2000-01-01", "minutes": 8.5, "busy": "", "machine": {"kernel": "1"},
              "curves": {name: {"text": f"text of {name}", "points": [{"at": 1, "instructions": 26000, "cpu_us": 5.5, "wall_us": 20.0},
                                                                      {"at": 1000, "cpu_us": 6.5}]}
                         for name in ("jobs", "attached", "spread", "questions", "beat")}}

    def test_the_table_says_when_and_where_and_leaves_the_words_around_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "GROWTH.md")
            sections.write(path, "before\n%sold\n%safter\n" % sections.marks("growth"))
            growth_draw.table(self.record, path)
            text = sections.read(path)
        self.assertRegex(text, r"^before\n(.*\n)+after\n$")
        self.assertNotIn("old", text)
        self.assertIn("on 2000-01-01 in 8.5 minutes: reeve 9.9.", text)
        self.assertIn("| `beat`: text of beat | 1 | 26,000 | 5.5 | 20.0 |", text)
        self.assertIn("| `beat`: text of beat | 1,000 |  | 6.5 |  |", text)

    def test_the_drawing_is_xml_with_a_line_for_each_curve(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "growth.svg")
            growth_draw.draw(self.record, path)
            document = xml.dom.minidom.parse(path)
        self.assertEqual(len(document.getElementsByTagName("polyline")), 2 * len(self.record["curves"]))


class Words(unittest.TestCase):
    def test_the_short_table_names_figures_that_the_program_has(self):
        folder = os.path.join(os.path.dirname(HERE), "src", "bench")
        source = "".join(sections.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".c"))
        for workload, shape, _ in own.HOW_FAST:
            self.assertIn(f'"{workload}"', source)
            self.assertIn(f'"{shape}"', source)


class Comparison(unittest.TestCase):
    def test_a_ratio_is_compared_before_a_value(self):
        old, new = {"ratio": 0.5, "value": 10, "unit": "/s"}, {"ratio": 0.6, "value": 9, "unit": "/s"}
        self.assertAlmostEqual(ab.gain(old, new), 0.2)

    def test_without_a_floor_the_unit_says_what_is_better(self):
        for unit, gained in (("/s", 1.0), ("us", -0.5)):
            old, new = ({"ratio": None, "value": value, "unit": unit} for value in (10, 20))
            self.assertAlmostEqual(ab.gain(old, new), gained)

    def test_five_losses_of_five_are_no_chance_and_four_are(self):
        self.assertEqual([ab.row_of("W1", [-0.1] * losses + [0.1] * (5 - losses))[1] for losses in (5, 4, 0)],
                         [True, False, False])

    def test_small_losses_are_none(self):
        self.assertFalse(ab.row_of("W1", [-0.01] * 9)[1])


class Sections(unittest.TestCase):
    def test_one_is_replaced_and_the_other_kept(self):
        text = sections.replaced(sections.empty_results(), "own", "ours, 1")
        text = sections.replaced(text, "peers", "theirs")
        text = sections.replaced(text, "own", "ours, 2")
        self.assertEqual([text.count(each) for each in ("ours, 1", "ours, 2", "theirs", "Not measured")], [0, 1, 1, 0])

    def test_broken_marks_are_named(self):
        begin, end = sections.marks("own")
        for text, said in ((end, "not 0 times"), (begin, "not 0 times"), (begin + begin + end, "not 2 times"), (end + begin, "before its beginning")):
            with self.assertRaisesRegex(sections.Broken, said):
                sections.replaced(text, "own", "x")

    def test_a_document_that_cannot_be_written_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            sections.write(path, "whole")
            self.assertRaises(UnicodeEncodeError, sections.write, path, "half \udcff")
            self.assertEqual((sections.read(path), os.listdir(folder)), ("whole", ["x"]))

    def test_headings_go_a_level_down(self):
        self.assertEqual(sections.deeper("# A\ntext # x\n## B\n#no\n"), "## A\ntext # x\n### B\n#no\n")


if __name__ == "__main__":
    from run import Tap  # sdk/python/tests/run.py
    outcome = Tap()
    unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]).run(outcome)
    print("1..%d" % outcome.count)
    sys.exit(0 if outcome.wasSuccessful() and outcome.count else 1)
