"""http_cost.py: what a request by HTTP costs the server's loop, in instructions (callgrind): the POST of W13, the GET of W14.

    python3 bench/http_cost.py build/release/reeve [--keep DIR]

Sixty-four connections ask in waves: all of them send, then all of them read, so that passes have as many requests as
in `reeve bench`. With --keep the profiles stay, for callgrind_annotate.
"""
import argparse
import os
import re
import shutil
import socket
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import counted  # noqa: E402

CONNECTIONS = 64
WARM_WAVES = 4
WAVES = 16
FLOW = b'{"jobs": {"a": {"noop": true}}}'


class Asker:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.links = [socket.create_connection((host, int(port)), timeout=counted.PATIENCE_S) for _ in range(CONNECTIONS)]

    def answer(self, link):
        data = b""
        while True:
            head, blank, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"Content-Length: (\d+)", head)
            if blank and len(body) >= int(length[1]):
                return data
            more = link.recv(1 << 16)
            if not more:
                raise SystemExit("the server hung up")
            data += more

    def wave(self, request, status):
        for link in self.links:
            link.sendall(request)
        answers = [self.answer(link) for link in self.links]
        for each in answers:
            if not each.startswith(b"HTTP/1.1 " + status):
                raise SystemExit(each.decode())
        return answers[0]


def cost(server, asker, request, status):
    for _ in range(WARM_WAVES):
        asker.wave(request, status)
    server.counted()
    for _ in range(WAVES):
        asker.wave(request, status)
    return server.counted() / (WAVES * CONNECTIONS)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--keep", metavar="DIR")
    options = options.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="reeve-http-cost")
    os.makedirs(folder, exist_ok=True)
    server = counted.Server(os.path.abspath(options.program), folder)
    try:
        asker = Asker(server.line("address"))
        known = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + server.line("admin.token").encode() + b"\r\n"
        post = (b"POST /api/v1/flows" + known + b"Content-Type: application/json\r\nContent-Length: "
                + str(len(FLOW)).encode() + b"\r\n\r\n" + FLOW)
        flow = re.search(rb'"flow":"([^"]+)"', asker.wave(post, b"201"))[1]
        get = b"GET /api/v1/jobs/" + flow + b"/a" + known + b"\r\n"
        print(f"POST {cost(server, asker, post, b'201'):,.0f} instructions")
        print(f"GET  {cost(server, asker, get, b'200'):,.0f} instructions")
    finally:
        server.close()
        if not options.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
