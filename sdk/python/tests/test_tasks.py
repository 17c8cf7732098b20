"""Tasks as functions, on warm workers."""

import os
import signal
import unittest

import lab
import reeve
import tasks
from reeve import errors
from reeve.worker import Worker

SECONDS = lab.SECONDS


class Tasks(lab.Lab):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.worker = lab.Process([lab.sys.executable, "-m", "reeve.worker", "tasks"], cls.env(cls), lab.TESTS)  # type: ignore[arg-type]
        cls.worker.says("attached to")

    @classmethod
    def tearDownClass(cls) -> None:
        code = cls.worker.end()
        super().tearDownClass()
        assert code == 0, "the worker ended with %d: %s" % (code, "".join(cls.worker.lines))

    def test_a_call_is_a_job(self) -> None:
        self.assertEqual(tasks.add(1, 2), 3)
        self.assertEqual(tasks.add.submit(1, 2).result(SECONDS), 3)
        self.assertEqual(tasks.add.submit(x="a${item}", y="$${b").result(SECONDS), "a${item}$${b")
        self.assertEqual(tasks.echo.submit(1, [2, None], key={"ü": 1.5}).result(SECONDS), [[1, [2, None]], {"key": {"ü": 1.5}}])
        self.assertEqual(tasks.echo.submit().result(SECONDS), [[], {}])
        job = tasks.renamed.submit()
        self.assertEqual(job.result(SECONDS), job.id)

    def test_results_flow_from_parents_to_children(self) -> None:
        with reeve.Flow("sums") as f:
            three = tasks.add.submit(1, 2)
            six = tasks.add.submit(three, three)
            size = tasks.length.submit(tasks.big.submit(200_000))  # a result that is a blob
            both = tasks.echo.submit([six, {"size": size}])
            sets = tasks.union.submit({1, 2}, tasks.union.submit({3}, {4}))
        f.submit().wait(SECONDS)
        self.assertEqual(six.result(), 6)
        self.assertEqual(both.result(), [[[6, {"size": 200_000}]], {}])
        self.assertEqual(sets.result(), {1, 2, 3, 4})

    def test_a_call_that_would_be_refused_is_not_submitted(self) -> None:
        before = len(self.client.flows())
        with self.assertRaisesRegex(TypeError, r"missing a required argument: 'y': the task is tasks.add\(x, y\)"):
            tasks.add.submit(1)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'z'"):
            tasks.add.options(retries=0).submit(1, 2, z=3)
        with self.assertRaisesRegex(TypeError, "multiple values for argument 'x'"):
            tasks.add.map([1, 2], y=3, x=4)
        self.assertEqual(len(self.client.flows()), before)
        with reeve.Flow("refused") as f:
            with self.assertRaises(TypeError):
                tasks.length.submit()
        self.assertEqual(f.spec()["jobs"], {})

    def test_a_wait_for_a_job_reads_its_result(self) -> None:
        self.assertEqual(tasks.add.submit(1, 2).wait(SECONDS).result, 3)
        self.assertEqual(tasks.union.submit({1}, {2}).wait(SECONDS).result, {1, 2})
        large = tasks.big.submit(200_000).wait(SECONDS)
        with self.assertRaisesRegex(errors.WrongState, "is large and was not sent along"):
            large.result
        self.assertEqual(len(self.client.result("%s/%s" % (large.flow, large.job))), 200_000)

    def test_a_map_is_one_flow(self) -> None:
        jobs = tasks.add.map(range(50), y=1)
        self.assertEqual([job.result(SECONDS) for job in jobs], list(range(1, 51)))
        self.assertEqual(len({job.flow.id for job in jobs}), 1)

    def test_commands_and_tasks_mix(self) -> None:
        self.plain_worker()
        with reeve.Flow("mixed") as f:
            rows = f.job("rows", "echo 20 > $REEVE_OUTPUT")
            more = tasks.add.submit(rows, 1)
            told = f.job("told", ["echo", "${jobs.add.outputs}"], needs=[more])
        f.submit().wait(SECONDS)
        self.assertEqual(told.logs(), "21\n")

    def test_commands_never_come_to_a_worker_of_tasks(self) -> None:
        self.plain_worker()
        f = reeve.Flow("plain", defaults={"retries": 0})
        for i in range(60):
            f.job("j%d" % i, noop=True)
        f.submit().wait(SECONDS)
        workers = {attempt["worker"] for job in f.jobs() for attempt in self.client.job(job["job"])["attempts"]}
        self.assertEqual({worker[:6] for worker in workers} & {"python"}, set())
        with self.assertRaisesRegex(errors.Invalid, "a pool of its own"):
            Worker([tasks.add], pool="default", data=self.data)

    def test_an_exception_fails_the_job_with_its_traceback_in_the_log(self) -> None:
        job = tasks.boom.submit("für nichts")
        with self.assertRaisesRegex(errors.JobFailed, "ValueError: für nichts"):
            job.result(SECONDS)
        text = job.logs()
        self.assertTrue(text.startswith("before\nbeside\nTraceback (most recent call last):"), text)
        self.assertIn("in boom", text)
        self.assertNotIn("_runner.py", text)

    def test_retries_are_the_servers(self) -> None:
        job = tasks.third_time.submit()
        self.assertEqual(job.result(SECONDS), 3)
        self.assertEqual([one["reason"] for one in job.view()["attempts"]][:2], ["RuntimeError: attempt 1", "RuntimeError: attempt 2"])
        job = tasks.fatal.submit()
        with self.assertRaisesRegex(errors.JobFailed, "nothing helps"):
            job.result(SECONDS)
        self.assertEqual(job.view()["attempt"], 1)

    def test_a_timeout_ends_a_function(self) -> None:
        self.assertEqual(tasks.endless.submit().wait(SECONDS).state, "timed_out")
        self.assertEqual(tasks.add.submit(1, 1).result(SECONDS), 2)

    def test_a_cancel_reaches_a_running_function(self) -> None:
        job = tasks.spinning.submit()
        watch = self.client.kv.watch("spinning")
        while self.client.kv.get("spinning") is None:
            next(watch)
        watch.close()
        job.cancel()
        self.assertEqual(job.wait(SECONDS).state, "cancelled")
        self.assertEqual(self.client.kv.get("stopped"), job.id.encode())

    def test_a_function_that_does_not_stop_is_left_to_itself(self) -> None:
        job = tasks.deaf.submit()
        watch = self.client.kv.watch("deaf")
        while self.client.kv.get("deaf") is None:
            next(watch)
        watch.close()
        job.cancel()
        self.assertEqual(job.wait(10).state, "cancelled")
        self.assertEqual([j.result(SECONDS) for j in tasks.add.map(range(8), y=0)], list(range(8)))

    def test_a_task_may_ask_the_server_as_its_attempt(self) -> None:
        job = tasks.grows.submit()
        self.assertTrue(job.result(SECONDS))
        self.assertEqual(self.client.kv.get("seen", flow=job.flow), job.id.encode())
        self.assertEqual(job.flow["added"].result(SECONDS), 23)

    def test_a_result_that_is_no_json_fails_the_job_alone(self) -> None:
        flow = self.client.submit({"defaults": {"pool": "python", "retries": 0}, "jobs": {
            "a": {"handler": "tasks.add", "payload": "not json"}, "b": {"handler": "tasks.add", "payload": "[1e999, 1]"}}})
        self.client.wait(flow, timeout=SECONDS)
        states = lab.states(self.client.jobs(flow))
        self.assertEqual(states, {"a": "failed", "b": "failed"})
        self.assertEqual(tasks.add.submit(1, 1).result(SECONDS), 2)

    def test_coroutines_run_on_one_loop(self) -> None:
        self.assertEqual(tasks.gather.submit(10).result(SECONDS), ["reeve-async", 45])

    def test_output_of_tasks_that_run_at_the_same_time_does_not_mix(self) -> None:
        jobs = tasks.talk.map([200] * 20)
        jobs[0].flow.wait(SECONDS)
        wanted = "".join("line %d\n" % i for i in range(200))
        for job in jobs:
            self.assertEqual(job.logs(), wanted)

    def test_no_worker_has_it_and_why_says_so(self) -> None:
        job = reeve.Flow("nobody").job("a", handler="no.such.task", payload="[]", pool="python")
        job.flow.submit()
        reason = job.why()
        self.assertRegex(reason["text"], "has what the job requires: handler:no.such.task; nearest: .* lacks handler:no.such.task")
        job.cancel()
        job = tasks.add.options(pool="elsewhere").submit(1, 2)
        self.assertEqual(job.why()["text"], "no worker of its pool is attached: elsewhere")
        job.cancel()

    def test_a_flow_file_can_call_a_task(self) -> None:
        flow = self.client.submit({"jobs": {
            "one": {"handler": "tasks.add", "payload": "[1, 2]", "pool": "python"},
            "two": {"handler": "tasks.echo", "payload": "{\"n\": ${jobs.one.outputs}}", "needs": "one", "pool": "python"},
            "each": {"handler": "tasks.add", "payload": "{\"x\": ${item}, \"y\": 1}", "foreach": [1, 2, 3], "pool": "python"}}})
        self.client.wait(flow, timeout=SECONDS)
        self.assertEqual(self.client.result(flow + "/two"), [[], {"n": 3}])
        self.assertEqual(self.client.flow(flow)["state"], "succeeded")


class Dying(lab.Lab):
    flags = ["--lease-ms", "1500", "--heartbeat-ms", "300"]

    def test_a_killed_workers_attempts_run_elsewhere(self) -> None:
        first = self.python_worker("tasks:wait_for_key", "--name", "first")
        job = tasks.wait_for_key.submit("release")
        events = self.client.events(job, from_start=True)
        while next(events)["to"] != "running":
            pass
        events.close()
        first.end(signal.SIGKILL)
        self.python_worker("tasks:wait_for_key", "--name", "second")
        self.client.kv.set("release", "now")
        self.assertEqual(job.result(SECONDS), "now")
        attempts = job.view()["attempts"]
        self.assertEqual([one["worker"] for one in attempts], ["first", "second"])
        self.assertEqual(attempts[0]["outcome"], "lost")

    def test_processes_are_started_again_and_take_over_at_once(self) -> None:
        worker = self.python_worker("tasks", "--processes", "2", "--threads", "1", "--name", "two", attached=2)
        job = tasks.kills_its_worker.submit()
        self.assertIsInstance(job.result(SECONDS), int)
        self.assertEqual(job.view()["attempts"][0]["outcome"], "lost")
        once = tasks.never_again.submit()
        self.assertEqual(once.wait(SECONDS).state, "failed")
        self.assertEqual(once.view()["attempt"], 1)
        self.assertEqual(worker.end(), 0)

    def test_attempts_outlive_a_kill_of_the_server(self) -> None:
        worker = self.python_worker("tasks", "--name", "steady")
        job = tasks.wait_for_key.submit("later")
        events = self.client.events(job, from_start=True)
        while next(events)["to"] != "running":
            pass
        events.close()
        type(self).restart_server()
        worker.says("holding 1")
        self.client.kv.set("later", "yes")
        self.assertEqual(job.result(SECONDS), "yes")
        self.assertEqual((job.view()["attempt"], self.client.kv.get("runs:later")), (1, b"1"))

    def test_many_calls_through_kills_of_the_server_run_once_each(self) -> None:
        self.python_worker("tasks:noop", "--name", "busy")
        jobs = tasks.noop.map(range(3000))
        for _ in range(3):
            type(self).restart_server()
        self.assertEqual(jobs[0].flow.wait(SECONDS).state, "succeeded")
        self.assertEqual({job["attempt"] for job in jobs[0].flow.jobs()}, {1})

    def test_large_results_survive_kills_of_the_server(self) -> None:
        self.python_worker("tasks", "--name", "mover")
        with reeve.Flow("large") as f:
            sizes = [tasks.length.submit(tasks.big.submit(300_000 + i)) for i in range(30)]
        f.submit()
        for _ in range(4):
            type(self).restart_server()
        f.wait(SECONDS)
        self.assertEqual([size.result(SECONDS) for size in sizes], [300_000 + i for i in range(30)])
        self.assertEqual({job["attempt"] for job in f.jobs()}, {1})

    def test_an_exclusive_function_does_not_outlive_the_lease(self) -> None:
        worker = self.python_worker("tasks:wait_for_key", "--name", "alone")
        alone = tasks.wait_for_key.options(exclusive=True)
        first = alone.submit("first")
        self.client.kv.set("first", "1")
        self.assertEqual(first.result(SECONDS), "1")
        job = alone.submit("exclusive")
        events = self.client.events(job, from_start=True)
        while next(events)["to"] != "running":
            pass
        events.close()
        self.server.end(signal.SIGKILL)
        self.assertEqual(worker.end(0), -signal.SIGALRM)
        type(self).start_server()
        self.python_worker("tasks:wait_for_key", "--name", "alone")
        self.client.kv.set("exclusive", "2")
        self.assertEqual(job.result(SECONDS), "2")

    def test_an_idle_worker_goes_when_it_is_told_to(self) -> None:
        worker = self.python_worker("tasks", "--name", "leaving")
        self.assertEqual(worker.end(signal.SIGTERM), 0)
        gone = [one for one in self.client.workers() if one["worker"] == "leaving" and one["attached"]]
        self.assertEqual(gone, [])

    def test_a_worker_says_which_tasks_it_serves(self) -> None:
        worker = self.python_worker("tasks:add,renamed", "--processes", "2", attached=2)
        self.assertEqual([line for line in worker.lines if "serves" in line],
                         ["reeve.worker: serves tasks.add(x, y)\n", "reeve.worker: serves short-name()\n"])

    def test_a_worker_that_is_not_welcome_says_why(self) -> None:
        worker = lab.Process([lab.sys.executable, "-m", "reeve.worker", "tasks", "--token", "wrong"], self.env(), lab.TESTS)
        worker.says("reeve.worker:")
        self.assertEqual(worker.end(0), 2)
        worker = lab.Process([lab.sys.executable, "-m", "reeve.worker", "tasks:NotATask"], self.env(), lab.TESTS)
        worker.says("tasks has no task `NotATask`")
        self.assertEqual(worker.end(0), 2)


if __name__ == "__main__":
    unittest.main()
