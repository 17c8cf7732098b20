"""A worker of gearmand for no-ops (systems/gearman.py): `serve` and `rest` say which function it offers."""
import socket
import struct
import sys
import threading

from agent import serve

CAN_DO, CANT_DO, PRE_SLEEP, NOOP, GRAB_JOB, NO_JOB, JOB_ASSIGN, WORK_COMPLETE = 1, 2, 4, 6, 9, 10, 11, 13


def send(kind, body=b""):
    connection.sendall(b"\0REQ" + struct.pack(">II", kind, len(body)) + body)


def work():
    """Only this thread reads; whoever offers a function wakes it by a job that then exists."""
    stream = connection.makefile("rb")
    send(GRAB_JOB)
    while True:
        kind, length = struct.unpack(">II", stream.read(12)[4:])
        body = stream.read(length)
        if kind == JOB_ASSIGN:
            send(WORK_COMPLETE, body.split(b"\0", 1)[0] + b"\0")
            send(GRAB_JOB)
        elif kind == NO_JOB:
            send(PRE_SLEEP)
        elif kind == NOOP:
            send(GRAB_JOB)


def offer(function):
    send(CAN_DO, function.encode())
    send(PRE_SLEEP)  # gearmand says so when there is a job


connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
threading.Thread(target=work, daemon=True).start()
serve({"serve": offer, "rest": lambda function: send(CANT_DO, function.encode())})
