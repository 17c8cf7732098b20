"""The examples for people, run as they say."""

import os
import signal
import subprocess
import sys
import unittest

import lab

EXAMPLES = os.path.join(lab.ROOT, "examples", "python")


class Examples(lab.Lab):
    def run_example(self, name: str, *arguments: str) -> str:
        done = subprocess.run([sys.executable, name, *arguments], cwd=EXAMPLES, env=self.env(), capture_output=True, text=True,
                              timeout=lab.SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_example_is_run_here(self) -> None:
        self.assertEqual(sorted(one for one in os.listdir(EXAMPLES) if one.endswith(".py")), ["agent.py", "etl.py", "tasks.py"])

    def test_etl(self) -> None:
        self.plain_worker()
        self.assertEqual(self.run_example("etl.py"), "to be loaded: ['a', '1', 'c', '3']\nloaded\n")

    def test_tasks(self) -> None:
        worker = lab.Process([sys.executable, "-m", "reeve.worker", "tasks"], self.env(PYTHONPATH=lab.SOURCE), EXAMPLES)
        self.addCleanup(worker.end)
        worker.says("attached to")
        self.assertEqual(self.run_example("tasks.py"), "6 DONE!\n")

    def test_an_agent_that_is_killed_goes_on(self) -> None:
        self.plain_worker()
        command = [sys.executable, "agent.py", "test"]
        first = subprocess.Popen(command, cwd=EXAMPLES, env=self.env(), stdout=subprocess.PIPE, text=True)
        assert first.stdout is not None
        said = [first.stdout.readline() for _ in range(3)]
        self.assertEqual(said[2], "waits for `reeve approve`\n", said)
        first.send_signal(signal.SIGKILL)
        first.wait(lab.SECONDS)
        first.stdout.close()
        second = subprocess.Popen(command, cwd=EXAMPLES, env=self.env(), stdout=subprocess.PIPE, text=True)
        assert second.stdout is not None
        lines = [second.stdout.readline() for _ in range(3)]
        self.assertEqual(lines[2], "waits for `reeve approve`\n", lines)
        flow = self.client.flows(name="agent-test")[0]["flow"]
        self.client.approve(flow + "/fix")
        out, _ = second.communicate(timeout=lab.SECONDS)
        self.assertEqual(out.splitlines(), ["fix after ['look', 'measure']", "succeeded"])
        self.assertEqual(second.returncode, 0)
        self.assertEqual(len(self.client.flows(name="agent-test")), 1)


if __name__ == "__main__":
    unittest.main()
