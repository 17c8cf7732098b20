"""Where the server is: found as the command line finds it.

An address that is given (`server=`, `REEVE_SERVER`) comes first; else the Unix socket in the data directory (`data=`,
`REEVE_DATA`, `./.reeve`), which needs no token; else the address that stands in that directory. The token is the one
given (`token=`, `REEVE_TOKEN`), else that of the data directory.
"""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
from dataclasses import dataclass
from typing import List, Optional, Tuple

from .errors import Invalid, NoServer

CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Place:
    """Where to dial, and as whom."""

    server: str = ""
    token: str = ""
    tenant: str = ""
    data: str = ".reeve"
    ca: str = ""
    cert: str = ""
    key: str = ""
    pin: str = ""  # SHA-256 of the server's certificate in hex, in place of an authority
    token_given: bool = False

    def addresses(self) -> List[str]:
        if self.server:
            return [self.server]
        found = ["unix:" + os.path.join(self.data, "reeve.sock")]
        written = _first_line(self.data, "address")
        return found + [written] if written else found

    def token_for(self, address: str) -> str:
        """On a Unix socket the kernel vouches, unless a token was given."""
        if self.token_given or not address.startswith("unix:"):
            return self.token
        return ""

    def complaint(self) -> NoServer:
        if self.server:
            return NoServer("cannot connect to %s: is the server running there?" % self.server)
        return NoServer("no server is running on %s: start one with `reeve up`, or name another with REEVE_SERVER" % self.data)


def find(server: Optional[str] = None, token: Optional[str] = None, tenant: str = "", data: Optional[str] = None,
         ca: Optional[str] = None, cert: Optional[str] = None, key: Optional[str] = None, pin: Optional[str] = None) -> Place:
    """What is given, completed from the environment as the command line does it."""
    env = os.environ.get
    if server is None and data is None:
        server = env("REEVE_SERVER")
    folder = data or env("REEVE_DATA") or ".reeve"
    given = token if token is not None else env("REEVE_TOKEN")
    pin = pin or env("REEVE_TLS_PIN") or ""
    cert = cert or env("REEVE_TLS_CERT") or ""
    ca = ca or env("REEVE_TLS_CA") or cert  # `reeve cert` puts all into one file
    authority = os.path.join(folder, "tls", "ca.pem")
    if not ca and not pin and os.access(authority, os.R_OK):
        ca = authority
    return Place(server or "", given or _first_line(folder, "admin.token"), tenant, folder, ca, cert,
                 key or env("REEVE_TLS_KEY") or "", pin, bool(given))


def _first_line(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def split(address: str) -> Tuple[str, int]:
    """HOST, HOST:PORT, ::1, [::1]:PORT, with or without `tls://` before it; port 7070 unless given."""
    plain = address[4:].lstrip("/") if address.startswith("tls:") else address
    has_port = "]:" in plain or plain.count(":") == 1
    host, _, port = plain.rpartition(":") if has_port else (plain, "", "7070")
    if not host or "/" in host or not port.isdigit():
        raise Invalid("%s is not HOST[:PORT], tls://HOST[:PORT] or unix:PATH" % address)
    return host.strip("[]"), int(port)


def tls_of(place: Place, address: str) -> Optional[ssl.SSLContext]:
    """How to secure the connection; None: the address does not ask for it."""
    if not address.startswith("tls:"):
        return None
    context = ssl.create_default_context(cafile=place.ca or None)
    if place.pin:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if place.cert:
        context.load_cert_chain(place.cert, place.key or None)
    return context


def check_pin(place: Place, certificate: Optional[bytes]) -> None:
    if place.pin and hashlib.sha256(certificate or b"").hexdigest() != place.pin.lower().replace(":", ""):
        raise NoServer("the certificate of the server is not the one that was pinned")


def dial(place: Place) -> Tuple[socket.socket, str]:
    """A connected socket, blocking, and the address that it is connected to."""
    for address in place.addresses():
        try:
            if address.startswith("unix:"):
                plain = socket.socket(socket.AF_UNIX)
                try:
                    plain.connect(address[5:])
                except OSError:
                    plain.close()
                    raise
                return plain, address
            host, port = split(address)
            plain = socket.create_connection((host, port), CONNECT_SECONDS)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.settimeout(None)
            context = tls_of(place, address)
            if context is None:
                return plain, address
            secure = context.wrap_socket(plain, server_hostname=host)
            check_pin(place, secure.getpeercert(binary_form=True))
            return secure, address
        except ssl.SSLError as e:
            raise NoServer("%s: %s" % (address, e)) from e
        except OSError:
            continue
    raise place.complaint()
