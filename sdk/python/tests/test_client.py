"""The blocking client against a real server."""

import json
import os
import signal
import tempfile
import threading
import unittest

import lab
import reeve
from reeve import errors


class Asking(lab.Lab):
    def test_a_flow_is_submitted_run_and_read(self) -> None:
        self.plain_worker()
        flow = self.client.submit({"name": "hello", "jobs": {
            "a": {"run": "echo héllo; echo '{\"rows\": 3}' > $REEVE_OUTPUT; echo data > out.txt", "artifacts": ["out.txt"]},
            "b": {"run": ["echo", "${jobs.a.outputs.rows}"], "needs": "a"}}})
        over = self.client.wait([flow + "/a", flow + "/b"], timeout=lab.SECONDS)
        self.assertEqual({job.state for job in over}, {"succeeded"})
        self.assertEqual(self.client.logs(flow + "/a").decode(), "héllo\n")
        self.assertEqual(self.client.logs(flow + "/b"), b"3\n")
        self.assertEqual(self.client.result(flow + "/a"), {"rows": 3})
        self.assertEqual(self.client.artifact(flow + "/a", "out.txt"), b"data\n")
        with self.assertRaisesRegex(errors.NotFound, "left no artifact `other`: out.txt"):
            self.client.artifact(flow + "/a", "other")
        self.assertEqual(b"".join(self.client.follow(flow + "/a")).decode(), "héllo\n")
        self.assertEqual(self.client.flow(flow)["name"], "hello")
        self.assertIn(flow, [view["flow"] for view in self.client.flows(name="hello")])
        self.assertGreater(len(self.client.stats()), 5)

    def test_a_file_is_kept_with_its_parameters(self) -> None:
        text = b'{"params": {"day": {"type": "date"}, "tags": {"type": "list", "default": []}},\n "jobs": {"a": {"noop": true}}}\n'
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "etl.json")
            with open(path, "wb") as file:
                file.write(text)
            with self.assertRaisesRegex(errors.Invalid, "etl.json:1:13: parameter `day` is `monday`; expected a date like"):
                self.client.submit_file(path, params={"day": "monday"})
            flow = self.client.submit_file(path, params={"day": "2026-03-01", "tags": ["a", 1]})
            os.rename(path, os.path.join(folder, "etl.yaml"))
            with open(os.path.join(folder, "etl.yaml"), "wb") as file:
                file.write(b"jobs: {}")
            with self.assertRaisesRegex(ValueError, "only flow files in JSON"):
                self.client.submit_file(os.path.join(folder, "etl.yaml"))
        got = self.client.request("source_get", {"flow": flow})
        self.assertEqual(got["text"], text.decode())
        self.assertEqual(got["name"], "etl.json")
        self.assertEqual(json.loads(got["params"]), {"day": "2026-03-01", "tags": ["a", 1]})

    def test_refusals_are_exceptions_by_their_code(self) -> None:
        with self.assertRaisesRegex(errors.UnknownName, "there is no job `zz`"):
            self.client.submit({"jobs": {"a": {"run": "x", "needs": ["zz"]}}})
        with self.assertRaises(errors.Cycle):
            self.client.submit({"jobs": {"a": {"run": "x", "needs": ["b"]}, "b": {"run": "x", "needs": ["a"]}}})
        with self.assertRaises(errors.NotFound):
            self.client.flow("f9zzz")
        with self.assertRaises(errors.NotFound):
            self.client.cancel("f9zzz")
        with self.assertRaises(errors.Invalid):
            self.client.check({"jobs": {"a": {"nonsense": 1}}})

    def test_a_wait_tells_what_came_out(self) -> None:
        flow = self.client.submit({"name": "small", "jobs": {"a": {"external": "a parcel"}, "b": {"gate": {"message": "?"}}}})
        self.client.complete(flow + "/a", {"weight": 2})
        self.client.reject(flow + "/b")
        done = self.client.wait(flow, timeout=lab.SECONDS)
        self.assertEqual((done.flow, done.job, done.state, done.ok), (flow, "", "failed", False))
        self.assertEqual({name: job.state for name, job in done.jobs.items()}, {"a": "succeeded", "b": "denied"})
        self.assertEqual((done.jobs["a"].ok, done.jobs["a"].result, done.jobs["b"].result), (True, {"weight": 2}, None))
        self.assertEqual((done.view["name"], done.jobs["a"].view["kind"]), ("small", "external"))
        self.assertLess(len(repr(done.jobs["a"])), 160)
        self.assertEqual(self.client.wait(flow + "/a"), done.jobs["a"])
        self.assertEqual([one.job for one in self.client.wait([flow + "/a"])], ["a"])
        with self.assertWarnsRegex(DeprecationWarning, "returns an object"):
            self.assertEqual([(one["job"], one["state"]) for one in done], [(flow, "failed")])
        with self.assertWarns(DeprecationWarning):
            self.assertEqual(done[0]["state"], "failed")

    def test_a_wait_for_a_large_flow_brings_the_jobs_that_ended_badly(self) -> None:
        jobs = {"j%d" % i: {"gate": {"message": "?"}} for i in range(201)}
        flow = self.client.submit({"jobs": jobs})
        self.client.reject(flow + "/j7", reason="no")
        self.client.cancel([flow + "/j%d" % i for i in range(9, 12)])
        for i in set(range(201)) - {7, 9, 10, 11}:
            self.client.approve(flow + "/j%d" % i)
        done = self.client.wait(flow, timeout=lab.SECONDS)
        self.assertEqual({name: job.state for name, job in done.jobs.items()},
                         {"j7": "denied", "j9": "cancelled", "j10": "cancelled", "j11": "cancelled"})

    def test_a_key_makes_a_flow_once(self) -> None:
        spec = {"jobs": {"a": {"gate": {"message": "?"}}}}
        self.assertEqual(self.client.submit(spec, key="only-once"), self.client.submit(spec, key="only-once"))
        self.assertNotEqual(self.client.submit(spec), self.client.submit(spec))

    def test_people_decide(self) -> None:
        flow = self.client.submit({"jobs": {"yes": {"gate": {"message": "go?"}}, "no": {"gate": {"message": "stop?"}}}})
        questions = {one["job"]: one for one in self.client.questions(flow=flow)}
        asked = questions[flow + "/yes"]
        with self.assertRaises(errors.Refused):
            self.client.approve(flow + "/yes", hash=b"\1" * 32)
        self.client.approve(flow + "/yes", hash=asked["hash"], revision=asked["revision"])
        self.client.reject(flow + "/no", reason="not today")
        over = self.client.wait([flow + "/yes", flow + "/no"], timeout=lab.SECONDS)
        self.assertEqual({job.job: job.state for job in over}, {"yes": "succeeded", "no": "denied"})
        with self.assertRaisesRegex(errors.NotFound, "no question"):
            self.client.approve(flow + "/yes")

    def test_cancel_why_and_time(self) -> None:
        flow = self.client.submit({"jobs": {"a": {"run": "x", "requires": ["nobody-has-this"]}}})
        self.assertIn(self.client.why(flow + "/a")["code"], ("no_workers", "capability"))
        with self.assertRaises(errors.TimedOut):
            self.client.wait(flow, timeout=0.05)
        self.client.cancel(flow, "enough")
        self.assertEqual(self.client.wait(flow + "/a", timeout=lab.SECONDS).state, "cancelled")
        with self.assertRaises(errors.JobFailed):
            self.client.result(flow + "/a")

    def test_jobs_are_added_and_external_ones_completed(self) -> None:
        flow = self.client.submit({"jobs": {"a": {"external": "a parcel"}}})
        self.client.add_jobs(flow, {"jobs": {"b": {"external": "another", "needs": "a"}}})
        self.client.complete(flow + "/a", {"weight": 2})
        self.assertEqual(self.client.result(flow + "/a"), {"weight": 2})
        self.client.complete(flow + "/b", failed=True, reason="lost")
        self.assertEqual(self.client.wait(flow + "/b", timeout=lab.SECONDS).state, "denied")
        self.assertIn(flow + "/b", [job["job"] for job in self.client.dead(flow=flow)])

    def test_a_lost_connection_is_made_anew(self) -> None:
        before = self.client.connect()
        before._socket.shutdown(2)
        self.assertEqual(self.client.kv.set("again", "1") > 0, True)
        self.assertIsNot(self.client.connect(), before)

    def test_threads_share_a_connection(self) -> None:
        flow = self.client.submit({"jobs": {"a": {"gate": {"message": "?"}}}})
        waited: list = []
        waiting = threading.Thread(target=lambda: waited.append(self.client.wait(flow + "/a", timeout=lab.SECONDS)))
        waiting.start()
        threads = [threading.Thread(target=lambda: [self.client.kv.incr("shared") for _ in range(50)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.client.kv.get("shared"), b"400")
        self.client.approve(flow + "/a")
        waiting.join(lab.SECONDS)
        self.assertEqual(waited[0].state, "succeeded")

    def test_nobody_there_is_said(self) -> None:
        with self.assertRaisesRegex(errors.NoServer, "start one with `reeve up`"):
            reeve.Client(data=os.path.join(self.data, "nothing")).connect()
        with self.assertRaisesRegex(errors.NoServer, "cannot connect to 127.0.0.1:1"):
            reeve.Client("127.0.0.1:1").connect()
        with open(os.path.join(self.data, "address"), encoding="utf-8") as file:
            address = file.read().strip()
        with self.assertRaises(errors.Unauthenticated):
            reeve.Client(address, token="wrong").connect()
        with reeve.Client(address, data=self.data) as by_port:
            self.assertEqual(by_port.kv.set("port", "1") > 0, True)


class Store(lab.Lab):
    def test_values_numbers_and_sets(self) -> None:
        kv = self.client.kv
        self.assertIsNone(kv.get("k"))
        version = kv.set("k", "vä")
        self.assertEqual(kv.get("k"), "vä".encode())
        newer = kv.cas("k", b"\0\xff", version)
        with self.assertRaises(errors.Conflict) as refused:
            kv.cas("k", "x", version)
        self.assertEqual(refused.exception.version, newer)
        with self.assertRaises(errors.Conflict):
            kv.add("k", "x")
        self.assertEqual((kv.incr("n"), kv.incr("n", 41), kv.incr("n", -2)), (1, 42, 40))
        self.assertEqual(kv.get("n"), b"40")
        self.assertEqual((kv.sadd("s", "a", "b"), kv.sadd("s", "b", "c"), kv.srem("s", "a")), (2, 1, 1))
        self.assertEqual(sorted(kv.smembers("s")), [b"b", b"c"])
        self.assertLessEqual({b"k", b"n", b"s"}, set(kv.keys()))
        self.assertEqual(kv.keys("n"), [b"n"])
        self.assertEqual(kv.delete("k", "n", "nothing"), 2)
        self.assertIsNone(kv.get("k"))
        with self.assertRaises(errors.WrongState):
            kv.get("s")

    def test_a_watch_tells_changes(self) -> None:
        watch = self.client.kv.watch("w")
        self.assertTrue(next(watch)["gap"])
        version = self.client.kv.set("w", "1")
        self.assertEqual(next(watch)["version"], version)
        watch.close()

    def test_blobs_of_any_size(self) -> None:
        for data in (b"", b"small", os.urandom(3_000_001)):
            if data:
                self.assertEqual(self.client.get_blob(self.client.put_blob(data)), data)

    def test_events_come_in_order_and_go_on_after_a_kill(self) -> None:
        flow = self.client.submit({"jobs": {"a": {"gate": {"message": "?"}}, "b": {"noop": True, "needs": "a"}}})
        events = self.client.events(flow, from_start=True)
        seen = [next(events)]
        type(self).restart_server()
        self.client.approve(flow + "/a")
        while not (seen[-1]["target"] == flow + "/a" and seen[-1]["to"] == "succeeded"):
            seen.append(next(events))
        places = [(event["lsn"], event["ordinal"]) for event in seen]
        self.assertEqual(places, sorted(set(places)))
        events.close()


class Killed(lab.Lab):
    def test_waits_and_submissions_outlive_a_kill_of_the_server(self) -> None:
        flow = self.client.submit({"jobs": {"a": {"gate": {"message": "?"}}}})
        done: list = []

        def work() -> None:
            done.append(self.client.wait(flow + "/a", timeout=lab.SECONDS).state)

        waiting = threading.Thread(target=work)
        waiting.start()
        self.server.end(signal.SIGKILL)
        ids: list = []
        submitting = threading.Thread(target=lambda: ids.append(self.client.submit({"jobs": {"a": {"noop": True}}}, key="through")))
        submitting.start()
        type(self).start_server()
        submitting.join(lab.SECONDS)
        self.assertEqual(self.client.submit({"jobs": {"a": {"noop": True}}}, key="through"), ids[0])
        self.client.approve(flow + "/a")
        waiting.join(lab.SECONDS)
        self.assertEqual(done, ["succeeded"])

    def test_what_may_not_happen_twice_is_not_sent_twice(self) -> None:
        connection = self.client.connect()
        sent, told = threading.Event(), []
        real_send = connection.send

        def send(op: int, message: object) -> int:
            request = real_send(op, message)  # type: ignore[arg-type]
            sent.set()
            return request

        def work() -> None:
            try:
                self.client.kv.incr("n")
            except errors.ConnectionLost as e:
                told.append(str(e))

        connection.send = send  # type: ignore[method-assign]
        self.server.process.send_signal(signal.SIGSTOP)
        asking = threading.Thread(target=work)
        asking.start()
        self.assertTrue(sent.wait(lab.SECONDS))
        type(self).restart_server()
        asking.join(lab.SECONDS)
        self.assertIn("may or may not have happened", told[0])
        self.assertIsNone(self.client.kv.get("n"))


if __name__ == "__main__":
    unittest.main()
