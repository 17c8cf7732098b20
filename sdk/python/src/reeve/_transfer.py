"""Blobs on a worker's connection: fetched and stored by frames, without waiting. A transfer that a lost connection cut off is
begun again by whoever wanted it."""

from __future__ import annotations

import hashlib
from typing import Any, Callable, List, Mapping

from . import _wire as w
from ._protocol import Frame

PART_BYTES = 1 << 20

Send = Callable[[int, Mapping[str, Any], Callable[[Frame], None]], int]  # a request, and who hears its answer


def fetch(send: Send, digest: bytes, then: Callable[[bytes], None], refused: Callable[[Frame], None]) -> None:
    parts: List[bytes] = []

    def heard(frame: Frame) -> None:
        if frame.op != w.Op.BLOB_DATA:
            refused(frame)
            return
        parts.append(frame.message["data"])
        if not frame.more:
            then(b"".join(parts))

    send(w.Op.BLOB_GET, {"hash": digest}, heard)


def store(send: Send, data: bytes, then: Callable[[bytes], None], refused: Callable[[Frame], None]) -> None:
    """What is there already is not sent; `then` is told the hash."""
    digest = hashlib.sha256(data).digest()

    def begun(frame: Frame) -> None:
        if frame.op != w.Op.BLOB_STATE:
            refused(frame)
        elif frame.message["stored"]:
            then(digest)
        else:
            upload = frame.message["upload"]
            for at in range(0, len(data), PART_BYTES):
                send(w.Op.BLOB_PART, {"upload": upload, "offset": at, "data": data[at:at + PART_BYTES]}, lambda frame: None)
            send(w.Op.BLOB_END, {"upload": upload, "hash": digest}, ended)

    def ended(frame: Frame) -> None:  # a part that was refused is missed here
        if frame.op == w.Op.BLOB_STATE and frame.message["stored"]:
            then(digest)
        else:
            refused(frame)

    send(w.Op.BLOB_BEGIN, {"hash": digest, "bytes": len(data)}, begun)
