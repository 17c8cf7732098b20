"""Worker processes side by side: started, and started again when they die."""

from __future__ import annotations

import os
import signal
import time
import traceback
from typing import Any, Callable, Dict


def supervise(count: int, child: Callable[[int], None]) -> None:
    """Children keep their names, so one that comes back says at once that what it held before is lost."""
    pids: Dict[int, int] = {}
    born: Dict[int, float] = {}
    stopping = False

    def on_signal(number: int, frame: Any) -> None:
        nonlocal stopping
        stopping = True
        for pid in list(pids):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def start(number: int) -> None:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                child(number)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        pids[pid] = number
        born[pid] = time.monotonic()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    for number in range(1, count + 1):
        start(number)
    while pids:
        pid, _ = os.wait()
        number = pids.pop(pid, 0)
        if number and not stopping:
            time.sleep(max(0.0, 1.0 - (time.monotonic() - born[pid])))  # one that dies at once must not spin
            if not stopping:
                start(number)
