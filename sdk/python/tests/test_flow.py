"""Flows as code."""

import io
import os
import tempfile
import unittest
from datetime import timedelta
from unittest import mock

import lab
import reeve
from reeve import errors


class Flows(lab.Lab):
    def test_a_graph_with_files_results_and_logs(self) -> None:
        self.plain_worker()
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "extract.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write("import json, os, sys\nprint(sys.argv[1], '${item}')\njson.dump({'n': 7}, open(os.environ['REEVE_OUTPUT'], 'w'))\n")
            with reeve.Flow("etl", labels={"team": "data"}, defaults={"retries": 0}) as f:
                extract = f.job("extract", script={"file": script, "args": ["now"]}, timeout=timedelta(seconds=30))
                load = f.job("load", ["echo", "got ${jobs.extract.outputs.n}"], needs=[extract], env={"A": 1})
                f.job("done", noop=True, needs=[load])
            self.assertIs(f.submit(), f)
        ended = f.wait(lab.SECONDS)
        self.assertEqual((ended.state, ended.view["name"], ended.view["job_count"]), ("succeeded", "etl", 3))
        self.assertEqual(ended.jobs["extract"].result, {"n": 7})
        self.assertEqual(extract.logs(), "now ${item}\n")
        self.assertEqual(f.logs("load"), "got 7\n")
        self.assertEqual(f.logs(), "extract | now ${item}\nload | got 7\n")
        self.assertEqual(f.result(extract), {"n": 7})
        self.assertEqual(lab.states(f.jobs()), {"extract": "succeeded", "load": "succeeded", "done": "succeeded"})
        self.assertEqual(reeve.Flow.attach(f.id, self.client).name, "etl")
        self.assertIn(f.id, [one["flow"] for one in self.client.flows(labels={"team": "data"})])

    def test_what_runs_at_the_end_of_a_flow(self) -> None:
        self.plain_worker()
        f = reeve.Flow("bad", timeout=timedelta(minutes=5), deadline="1h")
        f.job("work", "exit 3", retries=0)
        f.job("cheer", "echo well done", stage="on_success")
        f.job("tell", ["echo", "${flow.failed[0].name} ${flow.failed[0].exit_code}"], stage="on_failure")
        f.job("clean", ["echo", "${flow.state}"], stage="finally")
        with self.assertRaises(errors.Invalid):
            f.job("other", "true", stage="at the end")
        with self.assertRaises(errors.FlowFailed):
            f.submit().wait(lab.SECONDS)
        view = self.client.flow(f.id)
        self.assertEqual((view["state"], view["called"], view["stage"]), ("failed", "on_failure", "over"))
        self.assertEqual(lab.states(f.jobs()), {"work": "failed", "cheer": "skipped", "tell": "succeeded", "clean": "succeeded"})
        self.assertEqual((f.logs("tell"), f.logs("clean")), ("work 3\n", "failed\n"))

    def test_a_flow_that_fails_says_which_job_and_why(self) -> None:
        self.plain_worker()
        f = reeve.Flow("bad")
        bad = f.job("bad", "exit 3", retries=0)
        f.job("after", "true", needs=[bad])
        f.submit()
        with self.assertRaisesRegex(errors.FlowFailed, "/bad failed") as failed:
            f.wait(lab.SECONDS)
        self.assertEqual(lab.states(failed.exception.jobs), {"bad": "failed", "after": "failed"})  # type: ignore[arg-type]
        self.assertEqual(f.wait(check=False).state, "failed")
        bad.retry()
        self.assertEqual(bad.wait(lab.SECONDS).state, "failed")
        self.assertEqual(bad.view()["attempt"], 2)

    def test_it_grows_while_it_runs(self) -> None:
        f = reeve.Flow("growing")
        first = f.job("first", gate="go?")
        f.submit()
        f.job("second", gate="further?", needs=[first])
        f.submit()
        first.approve()
        self.client.wait(first, timeout=lab.SECONDS)
        self.assertEqual([one["job"] for one in self.client.questions(flow=f)], [f.id + "/second"])
        with self.assertRaises(errors.DuplicateName):
            f.job("first", noop=True)
        f.cancel()
        self.assertEqual(f.wait(lab.SECONDS, check=False).state, "cancelled")

    def test_more_jobs_than_one_message_takes(self) -> None:
        f = reeve.Flow("large")
        gate = f.job("gate", gate="go?")
        for i in range(12_000):
            f.job("j%d" % i, noop=True, needs=[gate])
        f.submit()
        self.assertEqual(f.view()["job_count"], 12_001)
        self.assertFalse(f.view()["more"])
        f.cancel()

    def test_submitting_twice_is_submitting_once(self) -> None:
        f = reeve.Flow("once")
        f.job("a", gate="?")
        f.submit()
        again = reeve.Flow("once", key=f.key)
        again.job("a", gate="?")
        self.assertEqual(again.submit().id, f.id)

    def test_a_bar_on_a_terminal(self) -> None:
        f = reeve.Flow("bar")
        a = f.job("a", gate="?")
        f.job("b", gate="?")
        f.submit()
        a.approve()
        self.client.wait(a, timeout=lab.SECONDS)
        from reeve.progress import Progress

        self.assertRegex(Progress(self.client, f.id).line(), "^━{20}─{20} 1/2$")
        terminal = io.StringIO()
        with mock.patch("sys.stderr", terminal):
            f.cancel()
            f.wait(lab.SECONDS, check=False, progress=True)
        self.assertTrue(terminal.getvalue().endswith("\r\033[K"))

    def test_a_file_of_the_server_cannot_be_named(self) -> None:
        with self.assertRaisesRegex(errors.Invalid, "files cannot be named here"):
            self.client.submit({"jobs": {"a": {"script": "/etc/passwd"}}})
        with self.assertRaises(errors.Refused):
            self.client.submit({"jobs": {"a": {"script": {"file": "sha256:" + "ab" * 32, "name": "x.sh"}}}})
        with self.assertRaises(FileNotFoundError):
            reeve.Flow("x").job("a", script="/nothing/there.py")


if __name__ == "__main__":
    unittest.main()
