"""A bar while a flow runs, on terminals: five times a second the flow is looked at, and drawn when it has changed."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Optional, Type

from . import _ops as ops
from . import errors
from .client import Client

REDRAW_SECONDS = 0.2
WIDTH = 40
_RUNNING = frozenset(("dispatched", "running", "checking"))


class Progress:
    """`with Progress(client, flow):` draws until the block is left."""

    def __init__(self, client: Client, flow: str, wanted: Optional[bool] = None) -> None:
        self._client, self._flow = client, flow
        self._draws = sys.stderr.isatty() if wanted is None else wanted
        self._over = threading.Event()
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> "Progress":
        if self._draws:
            self._thread = threading.Thread(target=self._run, name="reeve-progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _run(self) -> None:
        last = ""
        while not self._over.is_set():
            try:
                line = self.line()
            except errors.Error:  # it is drawn again when the server is back
                line = last
            if line != last:
                sys.stderr.write("\r\033[K" + line)
                sys.stderr.flush()
                last = line
            self._over.wait(REDRAW_SECONDS)

    def line(self) -> str:
        view = self._client.flow(self._flow)
        count = {state["name"]: state["amount"] for state in view["states"]}
        done = sum(n for state, n in count.items() if state in ops.OVER_STATES)
        running = sum(n for state, n in count.items() if state in _RUNNING)
        bad = sum(n for state, n in count.items() if state in ops.BAD_STATES and state != "cancelled")
        total = max(view["job_count"], 1)
        filled = WIDTH * done // total
        text = "%s%s %d/%d" % ("━" * filled, "─" * (WIDTH - filled), done, total)
        if running:
            text += ", %d running" % running
        return text + (", %d failed" % bad if bad else "")
