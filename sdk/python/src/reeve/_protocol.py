"""One connection without the connecting: bytes in, frames out.

What is here does no input or output, so the blocking client, the asyncio client and the worker share it. A request gets
an id; every frame of its answer carries it; `Frame.more` says that others follow.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, List, Mapping, NamedTuple

from . import errors
from ._tlv import decode, encode
from ._wire import OPCODES, VERSION, Op

_HEADER = struct.Struct(">BBBBIII")
_ANSWER, _MORE = 1, 2
_BODY_BYTES_MAX = 128 << 20


class Frame(NamedTuple):
    op: int
    request: int
    more: bool
    message: Dict[str, Any]


def pack(op: int, message: Mapping[str, Any], request: int = 0, answer: bool = False) -> bytes:
    """A whole frame."""
    body = encode(OPCODES[op][1], message)
    return _HEADER.pack(VERSION, op, _ANSWER if answer else 0, 0, request, 0, len(body)) + body


class Reader:
    """Cuts what arrives into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> List[Frame]:
        """The frames that are complete with these bytes. An opcode that is not known is left out."""
        buffer = self._buffer
        buffer += data
        frames: List[Frame] = []
        at = 0
        while len(buffer) - at >= 16:
            version, op, flags, _, request, _, length = _HEADER.unpack_from(buffer, at)
            if version != VERSION or length > _BODY_BYTES_MAX:
                raise errors.Unsupported("the peer is not a reeve server", "unsupported")
            if len(buffer) - at - 16 < length:
                break
            body = bytes(buffer[at + 16:at + 16 + length])
            at += 16 + length
            known = OPCODES.get(op)
            if known is not None:
                frames.append(Frame(op, request, bool(flags & _MORE), decode(known[1], body)))
        del buffer[:at]
        return frames


class Requests:
    """Gives out ids of requests."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last = self._last + 1 & 0xFFFFFFFF or 1
        return self._last


def hello(token: str, tenant: str, build: str, peer: str = "client") -> Dict[str, Any]:
    return {"version_min": VERSION, "version_max": VERSION, "peer": peer, "build": build, "token": token.encode(), "tenant": tenant}


def check(frame: Frame) -> Frame:
    """The frame, unless it is a refusal: that is raised."""
    if frame.op == Op.ERROR:
        m = frame.message
        raise errors.refusal(m["code"], m["message"], m["retry_after_ms"], m["version"])
    if frame.op == Op.BUSY:
        raise errors.refusal("busy", frame.message["reason"], frame.message["retry_after_ms"] or 100)
    return frame
