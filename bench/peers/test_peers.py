"""What the figures, the tables and the plot say; without any peer. Prints TAP.

    python3 bench/peers/test_peers.py
"""
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(1, os.path.join(HERE, "..", "..", "sdk", "python", "tests"))
sys.path.append(os.path.join(HERE, ".."))

import figures  # noqa: E402
import lab  # noqa: E402
import loss  # noqa: E402
import loss_peers  # noqa: E402
import measure  # noqa: E402
import peer  # noqa: E402
import plot  # noqa: E402
import report  # noqa: E402
from table import WORKLOADS  # noqa: E402


class Steady(peer.Peer):
    """A peer that gives what it is told to."""
    name = "Reeve"
    durable = "yes"
    values = iter(())

    def submit(self, plan):
        return peer.Measured(next(self.values), 1000, floor=1000.0, target=900.0, own_syncs=500)


class Broken(peer.Peer):
    name = "Broken | one"

    def start(self):
        raise lab.Failed("no such\nprogram")

    def submit(self, plan):
        raise AssertionError("it was never started")


class FailsLater(Steady):
    name = "Fails later"
    rounds = 0

    def submit(self, plan):
        type(self).rounds += 1
        if self.rounds > 1:
            raise lab.Failed("lost 3 jobs")
        return peer.Measured(5.0, 5)


def measured(rounds=3):
    Steady.values = iter((800.0, 1200.0, 950.0))
    FailsLater.rounds = 0
    with tempfile.TemporaryDirectory() as disk:
        return measure.measure(WORKLOADS[0], [Steady, Broken, FailsLater], disk, rounds, True)


def results():
    return {"command": "make bench-peers", "date": "2000-01-01", "minutes": 1.0, "quick": False, "busy": "", "machine": {"kernel": "1"},
            "floors": [{"shape": "F", "value": 5000.0, "unit": "/s"}], "workloads": [measured()],
            "systems": [{"name": "Reeve", "version": "1", "sync": "yes", "settings": "none"}]}


class Figures(unittest.TestCase):
    def test_numbers_have_three_digits(self):
        self.assertEqual([figures.number(each) for each in (46614.4, 713.2, 27.44, 0.8531, 5.0, 0.00123)],
                         ["46,614", "713", "27.4", "0.853", "5", "0.00123"])

    def test_ratios_say_how_fast_whichever_way_the_unit_runs(self):
        self.assertEqual(figures.ratio(50.0, 100.0, True), 0.5)
        self.assertEqual(figures.ratio(50.0, 100.0, False), 2.0)

    def test_the_middle_one_counts(self):
        row = {"values": [800.0, 1200.0, 950.0]}
        self.assertEqual(figures.summary(row, True, 1000.0), {"median": 950.0, "min": 800.0, "max": 1200.0, "of_floor": 0.95,
                                                              "of_reeve": None})

    def test_syncs_of_a_trace_are_counted_once(self):
        text = ("12 fdatasync(3) = 0\n13 fsync(4 <unfinished ...>\n12 write(1, \"fsync(\", 6) = 6\n13 <... fsync resumed>) = 0\n"
                "12 msync(0x1, 2, MS_ASYNC) = 0\n12 msync(0x1, 2, MS_SYNC) = 0\n")
        self.assertEqual(lab.syncs_in(text), 3)


class Report(unittest.TestCase):
    def test_a_peer_that_does_not_run_is_named_with_its_reason(self):
        text = report.markdown(results())
        self.assertIn("| Broken / one | not run: no such program |", text)

    def test_a_peer_that_fails_in_a_round_has_no_figure(self):
        got = measured()
        self.assertEqual([row["name"] for row in got["rows"]], ["Reeve"])
        self.assertEqual(got["not_run"]["Fails later"], "lost 3 jobs")

    def test_when_the_time_is_up_no_more_rounds_begin(self):
        Steady.values = iter((800.0, 1200.0))
        with tempfile.TemporaryDirectory() as disk:
            got = measure.measure(WORKLOADS[0], [Steady], disk, 2, True, seconds=0.0)
        self.assertEqual((got["rounds"], got["rows"][0]["values"]), (1, [800.0]))

    def test_who_had_no_turn_when_the_run_was_over_is_named(self):
        Steady.values = iter((800.0,))
        with tempfile.TemporaryDirectory() as disk:
            got = measure.measure(WORKLOADS[0], [Steady], disk, 1, True, end=0.0)
        self.assertEqual((got["rows"], got["not_run"]), ([], {"Reeve": "the time of the run was up"}))

    def test_a_row_has_median_spread_ratios_and_syncs(self):
        self.assertIn("| Reeve | 950 | 800 … 1,200 | 0.95 | 1 | yes | (own count 500) | 1,000 |", report.markdown(results()))

    def test_the_target_is_that_of_the_median(self):
        self.assertIn("Reeve: met (≥ 900)", report.markdown(results()))

    def test_who_has_to_be_beaten_is_compared(self):
        got = dict(results()["workloads"][0], beats="Other")
        got["rows"] = got["rows"] + [dict(got["rows"][0], name="Other", values=[1000.0], targets=[])]
        self.assertIn("faster than Other: **missed** (0.95 times)", "\n".join(report.workload_part(got)))

    def test_what_is_lost_is_appended(self):
        self.assertTrue(report.markdown(results(), "## Lost\n\nnothing\n").endswith("## Lost\n\nnothing\n"))


class Absent(loss_peers.Peer):
    name, what = "Absent", "not at all"

    @classmethod
    def missing(cls):
        return "absent is not installed"


class Unstartable(loss_peers.Peer):
    name, what = "Unstartable", "not at all"

    def command(self):
        return ["false"]

    def connect(self):
        raise ConnectionError("nobody listens")


class Unprepared(Unstartable):
    name = "Unprepared | one"

    def prepare(self):
        raise OSError("no room\nfor it")


class Forgetful(loss_peers.Peer):
    """Keeps its jobs in a file, and every third one not at all."""
    name, what = "Forgetful", "before it thinks"

    def command(self):
        return ["sleep", "600"]

    def connect(self):
        return open(os.path.join(self.data, "jobs"), "a", encoding="utf-8")

    def put(self, c, number):
        if number % 3:
            c.write(f"{number}\n")
            c.flush()
        elif number > 3000:
            raise ConnectionError("that is enough")

    def all(self):
        with open(os.path.join(self.data, "jobs"), encoding="utf-8") as f:
            return {int(line) for line in f}


class Loss(unittest.TestCase):
    def found(self, *peers, rounds=1):
        before, loss.PEERS = loss.PEERS, peers
        try:
            with tempfile.TemporaryDirectory() as disk:
                result = loss.measured(rounds, disk, build=os.path.join(disk, "nothing"))
                self.assertEqual(os.listdir(disk), [])
                return result
        finally:
            loss.PEERS = before

    def test_every_system_has_a_row_whatever_fails(self):
        text = loss.section(self.found(Absent, Unstartable, Unprepared))
        self.assertIn("| Reeve | a sync before each answer; flows, blobs, keys, logs | not run: reeve is not built |", text)
        self.assertIn("| Absent | not at all | not run: absent is not installed |", text)
        self.assertIn("| Unstartable | not at all | 0 of 0; then it failed: it does not start | not run: powercut.so is not built |", text)
        self.assertIn("| Unprepared / one | not at all | 0 of 0; then it failed: no room for it |", text)

    def test_what_was_acknowledged_and_is_not_there_is_lost(self):
        row = self.found(Forgetful)["rows"][1]["kill"]
        self.assertGreater(row["lost"], 0)
        self.assertAlmostEqual(row["lost"], row["acknowledged"] / 3, delta=2 * loss.CONNECTIONS)
        self.assertEqual(row["rounds_lost"], 1)

    def test_what_reeve_found_is_shown(self):
        found = {"acknowledged": 3000, "lost": 2, "jobs_run": 40, "run_twice": 1, "ended_badly": 0, "hung": 3}
        row = {"system": "Reeve", "what": "all", "kill": found, "power_cut": dict(found, lost=0, hung=0)}
        self.assertIn("| Reeve | all | 2 of 3,000; 3 hang | 0 of 3,000 | 2 of 80 |", loss.section({"rounds": 1, "seed": 7, "rows": [row]}))


class Arguments(unittest.TestCase):
    def test_w12_is_part_of_a_whole_run_unless_it_is_left_out(self):
        spec = importlib.util.spec_from_file_location("peers_main", os.path.join(HERE, "__main__.py"))
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        for only, quick, asked, rounds in (("", False, 10, 10), ("", True, 10, 1), ("", True, 0, 0), ("W1,W2", False, 10, 0), ("w1,w12", False, 7, 7)):
            args = types.SimpleNamespace(only=only, quick=quick, loss_rounds=asked)
            self.assertEqual(program.loss_rounds(args), rounds, (only, quick, asked))


class Plot(unittest.TestCase):
    def test_it_is_xml_and_bars_stay_inside(self):
        document = xml.dom.minidom.parseString(plot.svg(results()))
        for box in document.getElementsByTagName("rect"):
            self.assertLessEqual(float(box.getAttribute("x") or 0) + float(box.getAttribute("width")), plot.WIDTH)

    def test_the_faster_one_has_the_longer_bar(self):
        scale = plot.Scale([1.0, 10.0, 1000.0])
        self.assertLess(scale.at(1.0), scale.at(10.0))
        self.assertLess(scale.at(10.0), scale.at(1000.0))


class Table(unittest.TestCase):
    def test_every_peer_takes_part_and_says_how_it_syncs(self):
        for each in peer.all_peers():
            self.assertTrue(any(each.does(workload) for workload in WORKLOADS), each.name)
            self.assertTrue(each.sync and each.settings and each.durable, each.name)


class Processes(unittest.TestCase):
    def test_what_was_started_is_ended_daemons_too(self):
        with tempfile.TemporaryDirectory() as disk:
            with lab.Lab(disk) as place:
                folder = place.make("x")
                place.spawn(["sh", "-c", "setsid sh -c 'echo $$ >pid; exec sleep 600' & wait"], folder)
                path = os.path.join(folder, "pid")
                pid = int(lab.until(lambda: os.path.exists(path) and open(path, encoding="utf-8").read().strip(), "the daemon"))
            self.assertRaises(ProcessLookupError, os.kill, pid, 0)
            self.assertEqual(os.listdir(disk), [])

    def test_ended_by_a_signal_it_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as disk:
            script = ("import signal, sys; sys.path.insert(0, %r); import lab\n"
                      "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
                      "with lab.Lab(%r) as place:\n"
                      "    print(place.spawn(['sleep', '600'], place.make('x')).popen.pid, flush=True)\n"
                      "    signal.pause()\n") % (HERE, disk)
            with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
                pid = int(process.stdout.readline())
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(lab.PATIENCE_S), 143)
            self.assertRaises(ProcessLookupError, os.kill, pid, 0)
            self.assertEqual(os.listdir(disk), [])


class Files(unittest.TestCase):
    def test_no_lock_file_names_a_registry(self):
        with open(os.path.join(HERE, "node", "package-lock.json"), encoding="utf-8") as f:
            self.assertIsNone(re.search(r'"resolved"', f.read()))


if __name__ == "__main__":
    from run import Tap  # sdk/python/tests/run.py
    outcome = Tap()
    unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]).run(outcome)
    print("1..%d" % outcome.count)
    sys.exit(0 if outcome.wasSuccessful() and outcome.count else 1)
