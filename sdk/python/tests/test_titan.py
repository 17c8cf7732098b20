"""Titan's SDK by its names."""

import os
import tempfile
import unittest

import lab
from titan_sdk import TitanClient, TitanJob
from titan_sdk import titan_sdk as module

SECONDS = lab.SECONDS


class Titan(lab.Lab):
    def setUp(self) -> None:
        super().setUp()
        self.titan = TitanClient(self.client)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_dag_runs_in_order(self) -> None:
        self.plain_worker()
        a = TitanJob("a", self.script("one/step.py", "import sys; print('first', *sys.argv[1:])"), args="x y")
        b = TitanJob("b", self.script("two/step.py", "print('second')"), parents=["a"], priority=5, delay=1, affinity=True)
        bad = TitanJob("bad", self.script("bad.sh", "exit 1"))
        after = TitanJob("after", self.script("after.sh", "echo never"), parents=["bad"])
        self.assertEqual(self.titan.submit_dag("demo", [a, b], agent_run_id="run-1"), "DAG_ACCEPTED")
        self.assertTrue(self.titan._wait_for_dag([a, b], 1, SECONDS))
        self.assertEqual(self.titan.get_job_status("DAG-a"), "COMPLETED")
        self.assertEqual(self.titan.fetch_logs("DAG-a"), "first x y")
        self.assertEqual(self.titan.fetch_logs("DAG-b"), "second")
        self.assertEqual(self.titan.submit_dag("bad", [bad, after]), "DAG_ACCEPTED")
        self.assertFalse(self.titan._wait_for_dag([bad, after], 1, SECONDS))
        self.assertEqual((self.titan.get_job_status("bad"), self.titan.get_job_status("after")), ("DEAD", "CANCELLED"))
        self.assertEqual(self.titan.get_job_status("DAG-unknown"), "NULL")
        late = TitanJob("late", self.script("late.py", "print('late')"), parents=["DAG-b"])
        self.assertEqual(TitanClient(self.client).submit_job(late), "DAG_ACCEPTED")  # its parent is over, and of another client
        self.assertTrue(self.titan._wait_for_dag([late], 1, SECONDS))
        flows = self.client.flows(labels={"dialect": "titan", "agent_run_id": "run-1"})
        self.assertEqual([flow["name"] for flow in flows], ["demo"])

    def test_what_cannot_be_is_told(self) -> None:
        path = self.script("x.py", "")
        cycle = [TitanJob("p", path, parents=["q"]), TitanJob("q", path, parents=["p"])]
        self.assertRegex(self.titan.submit_dag("cycle", cycle), "^ERROR: ")
        self.assertRegex(self.titan.submit_dag("orphan", [TitanJob("o", path, parents=["nobody"])]), "^ERROR: there is no job DAG-nobody")
        with self.assertRaises(FileNotFoundError):
            TitanJob("x", "/nothing/there.py")
        with self.assertRaises(ValueError):
            self.titan.stop_service("")
        self.assertRegex(self.titan.stop_service("nothing"), "^ERROR: ")

    def test_a_gate_waits_for_a_person_without_a_worker(self) -> None:
        path = self.script("x.py", "print('ran')")
        self.plain_worker()
        ask = TitanJob("ask", path, hitl_message="go on?", max_wait_seconds=60)
        then = TitanJob("then", path, parents=["ask"])
        self.assertEqual(self.titan.submit_dag("gated", [ask, then]), "DAG_ACCEPTED")
        self.assertTrue(self.titan._wait_for_dag([ask], 1, SECONDS))
        flow = self.client.flows(name="gated")[0]["flow"]
        self.assertEqual([one["job"] for one in self.client.questions(flow=flow)], [flow + "/DAG-hitl-gate-ask"])
        self.assertEqual(self.titan.get_job_status("then"), "PENDING")
        self.assertEqual(self.titan.get_job_status("hitl-gate-ask"), "RUNNING")  # as its script would be
        self.client.approve(flow + "/DAG-hitl-gate-ask")
        self.assertTrue(self.titan._wait_for_dag([then], 1, SECONDS))

    def test_the_store(self) -> None:
        self.assertEqual(self.titan.store_put("k", "välue|with;all"), "OK")
        self.assertEqual(self.titan.store_get("k"), "välue|with;all")
        self.assertEqual(self.client.kv.get("user:k"), "välue|with;all".encode())
        self.assertEqual(self.titan.store_get("nothing"), "NULL")
        self.assertEqual((self.titan.store_sadd("s", "a"), self.titan.store_sadd("s", "a")), (1, 0))
        self.assertEqual(self.titan.store_smembers("s"), ["a"])
        self.assertEqual(self.titan.store_smembers("none"), [])

    def test_files_archives_and_artifacts(self) -> None:
        self.plain_worker()
        self.script("app/main.py", "import helper; print(helper.WORD)")
        self.script("app/helper.py", "WORD = 'from the archive'")
        self.script("app/__pycache__/x.pyc", "")
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        self.assertEqual(self.titan.upload_project_folder("app", "proj"), "UPLOAD_SUCCESS")
        self.assertFalse(os.path.exists("proj.zip"))
        job = TitanJob("packed", "proj.zip/main.py", is_archive=True)
        self.assertEqual(self.titan.submit_job(job), "DAG_ACCEPTED")
        self.assertTrue(self.titan._wait_for_dag([job], 1, SECONDS))
        self.assertEqual(self.titan.fetch_logs("packed"), "from the archive")
        model = self.script("model.bin", "weights")
        self.assertTrue(self.titan.publish_artifact("best", model))
        self.assertTrue(self.titan.get_artifact("best", "copy.bin"))
        with open("copy.bin", encoding="utf-8") as file:
            self.assertEqual(file.read(), "weights")
        self.assertFalse(self.titan.fetch_artifact("nothing.bin"))
        self.assertEqual(self.titan.upload_file("/nothing"), "ERROR: File not found at: /nothing")
        self.assertEqual(self.titan.deploy_script(model), "DEPLOY_SUCCESS")

    def test_a_service_is_deployed_and_stopped(self) -> None:
        self.plain_worker()
        text = "import http.server, os\nhttp.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), http.server.SimpleHTTPRequestHandler).serve_forever()"
        import socket

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        job = TitanJob("web", self.script("web.py", text), job_type="SERVICE", port=port)
        self.assertEqual(self.titan.submit_job(job), "DAG_ACCEPTED")
        self.assertTrue(self.titan._wait_for_dag([job], 1, SECONDS))
        self.assertEqual(self.titan.stop_service("web"), "STOPPED: DAG-web")

    def test_yaml_is_read_as_titan_reads_it(self) -> None:
        from reeve.titan import jobs_of_yaml

        self.script("a.py", "")
        text = {"name": "demo", "project": False, "jobs": [
            {"id": "a", "file": "a.py", "args": "x", "priority": 10},
            {"id": "b", "file": "a.py", "depends_on": ["a"], "delay": 2, "affinity": True, "type": "service", "port": 8095}]}
        a, b = jobs_of_yaml(text, self.folder)
        self.assertEqual((a.id, a.args, a.priority, a.is_archive), ("a", "x", 10, False))
        self.assertEqual((b.parents, b.delay, b.affinity, b.job_type, b.port), (["a"], 2000, True, "DEPLOY_PAYLOAD", 8095))
        text["project"] = True
        self.assertEqual(jobs_of_yaml(text, self.folder)[0].filename, "demo.zip/a.py")

    def test_jobs_as_titans_wire_has_them(self) -> None:
        path = self.script("a.py", "print()")
        self.assertEqual(TitanJob("a", path, args="x|y", parents=["p", "q"], affinity=True).to_string(),
                         "a|RUN_PAYLOAD|a.py|x y|cHJpbnQoKQ==|GENERAL|1|0|[p,q]|AFFINITY")
        self.assertEqual(TitanJob("s", path, job_type="SERVICE", port=80, requirement="GPU").to_string(),
                         "s|DEPLOY_PAYLOAD|a.py|cHJpbnQoKQ==|80|GPU|1|0|[]")
        self.assertEqual(TitanJob("z", "p.zip/m.py", is_archive=True, delay=5).to_string(), "z|RUN_ARCHIVE|p.zip/m.py||GENERAL|1|5|[]")
        self.assertEqual((module.TitanJob, module.TITAN_PORT), (TitanJob, 9090))


if __name__ == "__main__":
    unittest.main()
