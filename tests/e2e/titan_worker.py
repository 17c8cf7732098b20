#!/usr/bin/env python3
"""One of Titan's own workers, written from the description of the protocol alone: it registers with a master every 30 s,
takes what is staged, runs it and calls back, each time on a new connection. Nothing here comes from Reeve.

    titan_worker.py MASTER_HOST:PORT DIR [CAPABILITY [SLOTS [BATCH_BYTES]]]

Prints its port. As Titan's does, it keeps all staged files in one folder and hands both outputs on as one.
"""
import base64
import io
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile

HEADER = struct.Struct(">BBBBI")
MASTER, HOME = sys.argv[1].rsplit(":", 1), sys.argv[2]
CAPABILITY = sys.argv[3] if len(sys.argv) > 3 else "GENERAL"
SLOTS = int(sys.argv[4]) if len(sys.argv) > 4 else 4
jobs, services, lock = {}, {}, threading.Lock()


def read_all(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read_frame(sock):
    version, op, _, _, size = HEADER.unpack(read_all(sock, 8))
    if version != 1 or size > 10485760:
        raise EOFError
    return op, read_all(sock, size)


def send(sock, op, body):
    """Five writes for the header and one for the body, as there."""
    for piece in (b"\x01", bytes([op]), b"\x00", b"\x00", struct.pack(">I", len(body)), body):
        sock.sendall(piece)


def call(op, body, wait=True):
    with socket.create_connection((MASTER[0], int(MASTER[1]))) as sock:
        send(sock, op, body)
        return read_frame(sock) if wait else None


def note(text):
    with open(os.path.join(HOME, "notes"), "a") as f:
        f.write(text + "\n")


def register():
    while True:
        try:
            answer = call(0x02, f"{port}||{CAPABILITY}||false".encode())
            note(f"register {answer[1].decode()}")
        except (OSError, EOFError):
            pass
        time.sleep(float(os.environ.get("REGISTER_SECONDS", "30")))


def command(path):
    return (["python3", "-u"] if path.endswith(".py") else ["/bin/bash"]) + [path]


def run(job, argv, cwd):
    out, batch = [], []
    try:
        process = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
    except OSError as e:
        with lock:
            jobs.pop(job, None)
        call(0x12, f"{job}|FAILED|ERROR: {e}".encode())
        return
    with lock:
        jobs[job] = process
    note(f"start {job}")
    note(f"pid {process.pid}")

    def flush():
        if batch:
            call(0x17, f"{job}|".encode() + b"\n".join(batch), wait=False)
            batch.clear()

    for line in process.stdout:
        out.append(line)
        batch.append(line.rstrip(b"\n"))
        if len(batch) >= 200:
            flush()
    code = process.wait()
    flush()
    with lock:
        jobs.pop(job, None)
    word = "COMPLETED" if code == 0 else "FAILED"
    result = f"COMPLETED|{code}|".encode() + b"".join(out) if code == 0 else f"ERROR: exit {code}".encode()
    for _ in range(50):
        try:
            call(0x12, f"{job}|{word}|".encode() + result)
            return
        except (OSError, EOFError):
            time.sleep(0.2)


def accept(job, argv, cwd):
    with lock:
        if len(jobs) >= SLOTS:
            return 0x51, b"ERROR_WORKER_SATURATED"
        jobs[job] = None
    threading.Thread(target=run, args=(job, argv, cwd), daemon=True).start()
    return 0x50, b"JOB_ACCEPTED"


def unzip(name, data):
    folder = os.path.join(HOME, name)
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(data))) as z:
        z.extractall(folder)
    return folder


def tend(service, process, argv, cwd):
    """A service that crashed is forgotten, and after a pause started again."""
    process.wait()
    with lock:
        if services.get(service) is not process:
            return
        del services[service]
    note(f"crash {service}")
    time.sleep(float(os.environ["CRASH_PAUSE_SECONDS"]))
    deploy(service, argv, cwd)


def deploy(service, argv, cwd):
    with lock:
        if service in services:
            return 0x50, f"SERVICE_ALREADY_RUNNING: {service}".encode()
    process = subprocess.Popen(argv, cwd=cwd, start_new_session=True, env={**os.environ})
    services[service] = process
    note(f"service {service}")
    note(f"pid {process.pid}")
    if "CRASH_PAUSE_SECONDS" in os.environ:
        threading.Thread(target=tend, args=(service, process, argv, cwd), daemon=True).start()
    return 0x50, f"DEPLOYED_SUCCESS | ID: {service} | PID: {process.pid}".encode()


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, AttributeError):
        pass


def serve(op, body):
    text = body.decode()
    if op == 0x01:
        return 0x50, f"PONG|{len(jobs)}|{SLOTS}".encode()
    if op == 0x0C:
        name, data = text.split("|", 1)
        path = os.path.join(HOME, name)
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
        return 0x50, f"FILE_SAVED: {path}".encode()
    if op == 0x06:
        job, name, args = text.split("|", 2)
        return accept(job, command(os.path.join(HOME, name)) + args.split(), os.path.join(HOME, "shared"))
    if op == 0x18:
        job, entry, data = text.split("|", 2)
        folder = unzip(job, data)
        path = os.path.join(folder, entry)
        return accept(job, command(path), os.path.dirname(path))
    if op == 0x0D:
        name, service, number = text.split("|")
        os.environ["PORT"] = number
        return deploy(service, command(os.path.join(HOME, name)), HOME)
    if op == 0x19:
        service, entry, number, data = text.split("|", 3)
        os.environ["PORT"] = number
        path = os.path.join(unzip(service, data), entry)
        return deploy(service, command(path), os.path.dirname(path))
    if op == 0x07:
        process = services.pop(text, None)
        if process is None:
            return 0x50, f"UNKNOWN_SERVICE: {text}".encode()
        kill(process)
        process.wait()
        note(f"stop {text}")
        return 0x50, f"STOPPED: {text}".encode()
    if op == 0x56:
        with lock:
            process = jobs.get(text)
        if process is None:
            return 0x50, b"NOT_FOUND"
        note(f"cancel {text}")
        kill(process)
        return 0x50, b"KILLED"
    if op == 0x11:
        note("killed")
        threading.Timer(0.1, lambda: os._exit(0)).start()
        return 0x11, b"SUCCESS: Worker shutting down."
    return None


def session(sock):
    with sock:
        try:
            while True:
                answer = serve(*read_frame(sock))
                if answer is not None:
                    send(sock, *answer)
        except (EOFError, OSError):
            pass


os.makedirs(os.path.join(HOME, "shared"), exist_ok=True)
listener = socket.create_server(("127.0.0.1", int(os.environ.get("LISTEN_PORT", "0"))), backlog=64)
port = listener.getsockname()[1]
print(port, flush=True)
threading.Thread(target=register, daemon=True).start()
while True:
    connection, _ = listener.accept()
    threading.Thread(target=session, args=(connection,), daemon=True).start()
