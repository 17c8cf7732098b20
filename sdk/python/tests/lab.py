"""The built program as a server, and Python workers as processes: started, killed, started again. Nothing here is a mock."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Any, Dict, List, Optional

TESTS = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.path.dirname(TESTS), "src")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(TESTS)))
BINARY = os.environ.get("REEVE_BINARY") or os.path.join(ROOT, "build", "release", "reeve")
SECONDS = float(os.environ.get("REEVE_TEST_SECONDS", "60"))  # for whatever must happen

sys.path.insert(0, SOURCE)
sys.path.insert(0, TESTS)

import reeve  # noqa: E402


class Process:
    """A program whose standard error is read: `says` waits for words in it."""

    def __init__(self, arguments: List[str], env: Dict[str, str], cwd: Optional[str] = None) -> None:
        self.process = subprocess.Popen(arguments, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, errors="replace")
        self.lines: List[str] = []
        self._news = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()

    def says(self, words: str, times: int = 1) -> None:
        with self._news:
            found = self._news.wait_for(lambda: self._count(words) >= times or self._over, SECONDS)
        if not found or self._count(words) < times:
            raise AssertionError("it never said %r:\n%s" % (words, "".join(self.lines)))

    def _count(self, words: str) -> int:
        return sum(words in line for line in self.lines)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code; 0 as signal: it ends by itself."""
        if number and self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(SECONDS)
        self._thread.join(SECONDS)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code


class Lab(unittest.TestCase):
    """A server for the tests of a class, and what they start."""

    flags: List[str] = []
    server: Process
    data: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.data = tempfile.mkdtemp(prefix="reeve-sdk-")
        cls.start_server()
        reeve.set_default_client(reeve.Client(data=cls.data))

    @classmethod
    def tearDownClass(cls) -> None:
        reeve.default_client().close()
        reeve.set_default_client(None)
        cls.server.end()
        shutil.rmtree(cls.data, ignore_errors=True)

    @classmethod
    def start_server(cls) -> None:
        arguments = [BINARY, "serve", "--data", cls.data, "--listen", "127.0.0.1:0"]
        cls.server = Process(arguments + cls.flags, dict(os.environ))
        cls.server.says(" ready ")

    @classmethod
    def restart_server(cls) -> None:
        cls.server.end(signal.SIGKILL)
        cls.start_server()

    def setUp(self) -> None:
        self.client = reeve.default_client()

    def env(self, **more: str) -> Dict[str, str]:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("REEVE_", "TITAN_"))}
        return {**env, "PYTHONPATH": SOURCE + os.pathsep + TESTS, "REEVE_DATA": self.data, **more}

    def python_worker(self, *arguments: str, attached: int = 1, **env: str) -> Process:
        worker = Process([sys.executable, "-m", "reeve.worker", *arguments], self.env(**env), TESTS)
        self.addCleanup(worker.end)
        worker.says("attached to", attached)
        return worker

    def plain_worker(self) -> Process:
        """`reeve worker`: runs commands."""
        place = tempfile.mkdtemp(prefix="reeve-sdk-worker-")
        self.addCleanup(shutil.rmtree, place, True)
        worker = Process([BINARY, "worker", "--data", place], self.env())
        self.addCleanup(worker.end)
        worker.says("attached to")
        return worker

    def cli(self, *arguments: str) -> str:
        return subprocess.run([BINARY, *arguments], env=self.env(), check=True, capture_output=True, text=True, timeout=SECONDS).stdout


def states(jobs: List[Any]) -> Dict[str, str]:
    return {job["job"].partition("/")[2]: job["state"] for job in jobs}
