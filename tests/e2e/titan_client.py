"""Plays Titan's clients, from the description of its protocol alone: frames, grammars, texts. Each function named case_…
is one test; what Titan itself gets wrong is asked for as it should be.

    titan_client.py CASE HOST:PORT DATA_DIRECTORY REEVE_BINARY
"""

import base64
import io
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid
import zipfile

HOST = PORT = DATA = REEVE = None

REGISTER, SUBMIT_JOB, SUBMIT_DAG, DEPLOY, RUN, STOP, STATS, STATS_JSON = 2, 3, 4, 5, 6, 7, 8, 9
CLEAN_STATS, KILL_WORKER, GET_LOGS = 0x0B, 0x11, 0x16
ACK, ERROR = 0x50, 0x51
UPLOAD, FETCH, STATUS, CANCEL, DEPLOY_SCRIPT = 0x53, 0x54, 0x55, 0x56, 0x57
KV_SET, KV_GET, KV_SADD, KV_SMEMBERS = 0x60, 0x61, 0x62, 0x63


# ---- frames

def frame(op, body, version=1, flags=0, spare=0):
    body = body.encode() if isinstance(body, str) else body
    return struct.pack(">BBBBI", version, op, flags, spare, len(body)) + body


def connect():
    c = socket.create_connection((HOST, PORT))
    c.settimeout(60)
    return c


def read_exactly(c, count):
    got = b""
    while len(got) < count:
        piece = c.recv(min(1 << 20, count - len(got)))
        if not piece:
            raise EOFError("closed after %d of %d bytes" % (len(got), count))
        got += piece
    return got


def read_frame(c):
    version, op, flags, spare, length = struct.unpack(">BBBBI", read_exactly(c, 8))
    assert (version, flags, spare) == (1, 0, 0), (version, flags, spare)
    return op, read_exactly(c, length)


def ask_bytes(op, body):
    """As the SDK: a connection for each request."""
    with connect() as c:
        c.sendall(frame(op, body))
        return read_frame(c)


def ask(op, body=""):
    got, text = ask_bytes(op, body)
    text = text.decode()
    fails = ("ERROR", "UNKNOWN", "SERVER_ERROR", "UPLOAD_FAILED", "DEPLOY_FAILED")
    assert got == (ERROR if text.startswith(fails) else ACK), (hex(got), text)
    return text


def equal(got, wanted):
    assert got == wanted, "got %r, wanted %r" % (got, wanted)


def begins(got, wanted):
    assert got.startswith(wanted), "got %r, wanted it to begin with %r" % (got, wanted)


def closed_without_a_byte(c):
    try:
        equal(c.recv(1), b"")
    except ConnectionResetError:
        pass


def unique(word):
    return word + "-" + uuid.uuid4().hex[:8]


def b64(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def until(what, wanted, seconds=60):
    """Asks again until it is so: the protocol has no events."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got == wanted or (isinstance(wanted, tuple) and got in wanted):
            return got
        assert time.monotonic() < end, "still %r, wanted %r" % (got, wanted)
        time.sleep(0.01)


def reeve(*args):
    env = dict(os.environ, REEVE_DATA=DATA)
    return subprocess.run([REEVE, *args], env=env, capture_output=True, text=True, timeout=60, check=True).stdout


# ---- frames and connections

def case_frames():
    # flags and the spare byte are not looked at
    with connect() as c:
        c.sendall(frame(KV_GET, unique("nobody"), flags=0xFF, spare=0x7F))
        equal(read_frame(c), (ACK, b"NULL"))
    # many frames on one connection, sent at once: answered in order
    with connect() as c:
        key = unique("k")
        c.sendall(b"".join(frame(KV_SET, "%s%d|v%d" % (key, i, i)) + frame(KV_GET, "%s%d" % (key, i))
                           for i in range(50)))
        for i in range(50):
            equal(read_frame(c), (ACK, b"OK"))
            equal(read_frame(c), (ACK, b"v%d" % i))
    # byte by byte, as Titan's own sender nearly does
    with connect() as c:
        for byte in frame(KV_GET, unique("nobody")):
            c.sendall(bytes([byte]))
        equal(read_frame(c), (ACK, b"NULL"))
    # header and body of an answer come in one write: a single recv has both
    with connect() as c:
        c.sendall(frame(KV_GET, unique("nobody")))
        equal(c.recv(8), struct.pack(">BBBBI", 1, ACK, 0, 0, 4))


def case_other_versions_and_too_long_frames_hear_nothing():
    for bad in (frame(STATS, "", version=2), b"\0" * 8, b"GET / HTTP/1.1\r\n\r\n",
                struct.pack(">BBBBI", 1, STATS, 0, 0, 0xFFFFFFFF), struct.pack(">BBBBI", 1, STATS, 0, 0, (64 << 20) + 1)):
        with connect() as c:
            c.sendall(bad)
            closed_without_a_byte(c)


def case_a_frame_may_have_64_mebibytes():
    body = b"k|" + b"x" * ((64 << 20) - 2)
    op, text = ask_bytes(KV_SET, body)
    equal(op, ERROR)  # a value of the store has another limit, and the answer says which
    begins(text, b"ERROR: ")
    equal(ask(KV_SET, unique("k") + "|v"), "OK")


def case_who_hangs_in_half_a_frame_is_dropped():
    with connect() as c:  # the server was told to wait for 300 ms
        c.sendall(frame(KV_SET, "a|b")[:9])
        closed_without_a_byte(c)
    with connect() as c:  # nothing at all for longer than that is fine
        time.sleep(0.5)
        c.sendall(frame(KV_GET, unique("nobody")))
        equal(read_frame(c), (ACK, b"NULL"))


def case_who_goes_without_reading_hurts_nobody():
    for _ in range(50):
        c = connect()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.sendall(frame(STATS, "") + frame(KV_SET, "gone|yes"))
        c.close()
    until(lambda: ask(KV_GET, "gone"), "yes")


def case_unknown_opcodes():
    for op in (0x01, 0x0C, 0x0D, 0x18, 0x19, 0x50, 0x51, 0x52, 0x58, 0x59, 0x5A, 0x5B, 0x70, 0x71, 0x00, 0x7F, 0x80, 0xFF):
        equal(ask(op, "whatever"), "UNKNOWN_OPCODE: %d" % (op if op < 128 else op - 256))


# ---- the store

def case_store():
    k = unique("k")
    equal(ask(KV_GET, k), "NULL")
    equal(ask(KV_SET, k + "|v|with|bars\nand lines"), "OK")
    equal(ask(KV_GET, k), "v|with|bars\nand lines")
    equal(ask(KV_SET, k + "|"), "OK")
    equal(ask(KV_GET, k), "")
    equal(ask(KV_SET, "no bar"), "ERROR: Invalid Format")
    equal(ask(KV_SET, ""), "ERROR: Invalid Format")
    equal(ask(KV_SET, k + "|ERROR: as a value"), "OK")
    equal(ask_bytes(KV_GET, k)[1], b"ERROR: as a value")
    s = unique("s")
    equal(ask(KV_SMEMBERS, s), "")
    equal(ask(KV_SADD, s + "|b"), "1")
    equal(ask(KV_SADD, s + "|a"), "1")
    equal(ask(KV_SADD, s + "|a"), "0")
    equal(sorted(ask(KV_SMEMBERS, s).split(",")), ["a", "b"])
    equal(ask(KV_SADD, "no bar"), "ERROR: Invalid Format")
    with connect() as c:  # more than a page of them
        c.sendall(b"".join(frame(KV_SADD, "%s|m%04d" % (s, i)) for i in range(2500)))
        for i in range(2500):
            equal(read_frame(c), (ACK, b"1"))
    equal(len(ask(KV_SMEMBERS, s).split(",")), 2502)


def case_text_of_any_language():
    k = unique("schlüssel")
    for value in ("Grüße", "日本語のテキスト", "🚀" * 1000, "é|ü"):
        equal(ask(KV_SET, k + "|" + value), "OK")
        equal(ask(KV_GET, k), value)
        equal(ask(KV_GET, unique("nobody")), "NULL")


# ---- run one

if __name__ == "__main__":
    name, address, DATA, REEVE = sys.argv[1:5]
    HOST, PORT = address.rsplit(":", 1)
    PORT = int(PORT)
    globals()["case_" + name]()
