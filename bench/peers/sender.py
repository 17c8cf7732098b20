"""The senders that several peers share: load.c for protocols of bytes, a small client for lines."""
import os
import socket
import subprocess

from lab import BUILD, HERE, PATIENCE_S, Failed, program
from peer import rate


def load_program():
    source, built = os.path.join(HERE, "load.c"), os.path.join(BUILD, "load")
    if not os.path.exists(built) or os.path.getmtime(built) < os.path.getmtime(source):
        os.makedirs(BUILD, exist_ok=True)
        subprocess.run([program("cc"), "-O2", "-D_GNU_SOURCE", "-o", built, source], check=True, timeout=PATIENCE_S)
    return built


def load(port, request, clients, flight=1, seconds=0.0, answers=0, kind="line"):
    """(answers, seconds) of one request again and again."""
    done = subprocess.run([load_program(), str(port), str(clients), str(flight), str(seconds), str(answers), kind],
                          input=request, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=10 * PATIENCE_S, check=False)
    if done.returncode:
        raise Failed(done.stderr.decode(errors="replace").strip())
    count, took = done.stdout.split()
    return int(count), float(took)


def submits(peer, plan, port, request, kind="line"):
    """W1 and W2; what the peer then has must be what it acknowledged."""
    before = peer.queued()
    count, took = load(port, request, plan.workload.clients, plan.workload.flight, plan.seconds, plan.answers, kind)
    expect_queued(peer, before + count)
    return rate(count, took)


def expect_queued(peer, count):
    has = peer.queued()
    if has != count:
        raise Failed(f"acknowledged were {count} jobs, queued are {has}")


def ask_lines(port, request, is_whole):
    """Sends bytes, reads until `is_whole` likes the answer."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as s:
        s.sendall(request)
        answer = b""
        while not is_whole(answer):
            got = s.recv(65536)
            if not got:
                raise Failed("the connection was closed")
            answer += got
    return answer
