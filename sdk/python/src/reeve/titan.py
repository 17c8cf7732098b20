"""Titan's SDK, by its names, on Reeve.

    from reeve.titan import TitanClient, TitanJob    # or: from titan_sdk import TitanClient, TitanJob

The same classes, arguments and answers as Titan's, so that programs written for it run unchanged. Underneath is Reeve's own
client: a DAG is one flow with its name, scripts are blobs, a job with `hitl_message` is followed by a gate that takes no
worker, and the store is Reeve's. The server is found as `reeve.Client` finds it; where nothing else says where it is,
TITAN_HOST and TITAN_PORT do.
"""

from __future__ import annotations

import base64
import os
import posixpath
import socket
import struct
import time
import zipfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _ops as ops
from . import errors
from .client import Client
from .flow import Flow

TITAN_HOST = os.environ.get("TITAN_HOST", "127.0.0.1")
TITAN_PORT = int(os.environ.get("TITAN_PORT", "9090"))
PREFIX = "DAG-"
FILE_KEY = "titan:file:"  # of the store: HASH BYTES MS
USER_KEY = "user:"
ID_LABEL = "titan.id"
TOKEN_RIGHTS = ["read", "submit"]  # of jobs: theirs may submit further ones
ANSWER_SECONDS = 10
FLOW_LABELS = {"dialect": "titan"}
FLOWS_SEARCHED = 200  # the newest ones, for the job of an id that was submitted elsewhere
_STATUS = {
    "waiting": "PENDING", "held": "PENDING", "ready": "PENDING", "dispatched": "RUNNING", "running": "RUNNING",
    "checking": "RUNNING", "succeeded": "COMPLETED", "failed": "DEAD", "timed_out": "DEAD", "denied": "DEAD",
    "quarantined": "DEAD", "cancelled": "CANCELLED", "skipped": "CANCELLED",
}


class TitanJob:
    """A job of a DAG. A local script is read at once: FileNotFoundError when it is not there."""

    def __init__(self, job_id: str, filename: str, job_type: str = "RUN_PAYLOAD", args: Optional[str] = None,
                 parents: Optional[Sequence[str]] = None, port: int = 0, is_archive: bool = False, priority: int = 1,
                 delay: int = 0, affinity: bool = False, requirement: str = "GENERAL", hitl_message: Optional[str] = None,
                 max_wait_seconds: int = 172800) -> None:
        self.id = job_id
        self.filename = filename
        self.job_type = "DEPLOY_PAYLOAD" if job_type in ("SERVICE", "DEPLOY_PAYLOAD") else "RUN_PAYLOAD"
        self.args = args or ""
        self.parents = list(parents or [])
        self.port = port
        self.is_archive = is_archive
        self.priority = priority
        self.delay = delay
        self.affinity = affinity
        self.requirement = requirement.replace("|", "") or "GENERAL"
        self.hitl_message = hitl_message
        self.max_wait_seconds = max_wait_seconds
        self.payload_b64 = "" if is_archive else base64.b64encode(_read(filename)).decode()

    @property
    def is_service(self) -> bool:
        return self.job_type == "DEPLOY_PAYLOAD"

    def to_string(self) -> str:
        """As Titan's own wire has it."""
        args = self.args.replace("|", " ")
        name = posixpath.basename(self.filename)
        if self.is_archive and self.is_service:
            body = ["START_ARCHIVE_SERVICE", self.filename, args, str(self.port)]
        elif self.is_archive:
            body = ["RUN_ARCHIVE", self.filename, args]
        elif self.is_service:
            body = ["DEPLOY_PAYLOAD", name, self.payload_b64, str(self.port)]
        else:
            body = ["RUN_PAYLOAD", name, args, self.payload_b64]
        tail = [self.requirement, str(self.priority), str(self.delay), "[%s]" % ",".join(self.parents)]
        return "|".join([self.id] + body + tail + (["AFFINITY"] if self.affinity else []))


class TitanClient:
    """What Titan's client can do. Errors are texts that begin with `ERROR`, as there."""

    def __init__(self, client: Optional[Client] = None) -> None:
        self.client = client if client is not None else _find()
        self._jobs: Dict[str, str] = {}  # id: the job that it means, as far as we submitted it

    # ---- submitting

    def submit_dag(self, name: str, jobs: Sequence[TitanJob], agent_run_id: Optional[str] = None) -> str:
        try:
            flow = self._flow(name, jobs, agent_run_id)
            flow.submit()
        except errors.Error as e:
            return "ERROR: %s" % e
        for job in jobs:
            self._jobs[_full(job.id)] = "%s/%s" % (flow, _name(job.id))
        return "DAG_ACCEPTED"

    def submit_job(self, job: TitanJob) -> str:
        return self.submit_dag(job.id, [job])

    def submit_yaml(self, path: str, agent_run_id: Optional[str] = None, wait: bool = False, poll_interval: float = 2,
                    timeout: float = 300) -> Union[str, bool]:
        """The DAG of a YAML file; needs PyYAML."""
        import yaml  # type: ignore[import]

        with open(path, encoding="utf-8") as file:
            text = yaml.safe_load(file)
        jobs = jobs_of_yaml(text, os.path.dirname(os.path.abspath(path)))
        answer = self.submit_dag("%s-%d" % (text.get("name", "titan_agent"), time.time()), jobs, agent_run_id)
        if wait and answer == "DAG_ACCEPTED" and not self._wait_for_dag(jobs, poll_interval, timeout):
            return False
        return answer

    def _wait_for_dag(self, jobs: Sequence[TitanJob], poll_interval: float = 2, timeout: float = 300) -> bool:
        """Whether all of them were completed in time. Nothing is polled: the server says when they are over."""
        targets = [self._find(job.id) for job in jobs]
        try:
            self.client._run(ops.wait([target for target in targets if target], False, timeout))
        except errors.TimedOut:
            return False
        return all(self.get_job_status(job.id) == "COMPLETED" for job in jobs)

    def _flow(self, name: str, jobs: Sequence[TitanJob], agent_run_id: Optional[str]) -> Flow:
        labels = dict(FLOW_LABELS, **({"agent_run_id": agent_run_id} if agent_run_id else {}))
        flow = Flow(name, labels=labels, client=self.client)
        here = {_full(job.id) for job in jobs}
        gates = {_full(job.id): _full("hitl-gate-" + job.id) for job in jobs if job.hitl_message}
        for job in jobs:
            needs = []
            for parent in map(_full, job.parents):
                needs.append(_name(gates.get(parent, parent)) if parent in here else self._found(parent))
            self._add(flow, job, needs)
            if job.hitl_message:
                gate = {"message": job.hitl_message, "timeout": "%ds" % job.max_wait_seconds}
                flow.job(_name(gates[_full(job.id)]), gate=gate, needs=[_name(job.id)], labels={ID_LABEL: gates[_full(job.id)]})
        return flow

    def _add(self, flow: Flow, job: TitanJob, needs: List[str]) -> None:
        keys: Dict[str, Any] = {
            "needs": needs, "labels": {ID_LABEL: _full(job.id)}, "priority": max(0, job.priority),
            "backoff": {"base": "0s", "cap": "0s", "jitter": "0s"}, "affinity": job.affinity, "token": TOKEN_RIGHTS,
        }
        if job.delay:
            keys["delay"] = "%dms" % job.delay
        if job.requirement != "GENERAL":
            keys["requires"] = [job.requirement]
        work = self._work(job)
        if job.is_service:
            keys["service"] = {"name": _name(job.id), "port": job.port, "healthy_within": "30s", **work}
        else:
            keys.update(work)
        flow.job(_name(job.id), **keys)

    def _work(self, job: TitanJob) -> Dict[str, Any]:
        args = [word for word in job.args.split(" ") if word]
        if not job.is_archive:
            digest = self.client.put_blob(base64.b64decode(job.payload_b64))
            return {"script": {"file": "sha256:" + digest.hex(), "name": posixpath.basename(job.filename), "args": args}}
        name, _, entry = job.filename.partition("/")
        found = self._file_hash(name)
        if found is None:
            raise errors.NotFound("%s was not uploaded" % name)
        return {"archive": {"file": "sha256:" + found.hex(), "entry": entry, "dir": posixpath.dirname(entry), "args": args}}

    # ---- looking

    def _find(self, job_id: str) -> Optional[str]:
        """The newest job of that id, as flow/name."""
        for id in (job_id, _full(job_id)):
            if id in self._jobs:
                return self._jobs[id]
            for flow in self.client.flows(labels=FLOW_LABELS, most=FLOWS_SEARCHED):
                target = "%s/%s" % (flow["flow"], _fit(id))
                try:
                    if self.client.job(target, details=False)["job"] == target:  # and not one that only begins so
                        return target
                except (errors.NotFound, errors.UnknownName):
                    continue
        return None

    def _found(self, job_id: str) -> str:
        found = self._find(job_id)
        if found is None:
            raise errors.UnknownName("there is no job %s" % job_id)
        return found

    def get_job_status(self, job_id: str) -> str:
        target = self._find(job_id)
        if target is None:
            return "NULL"
        view = self.client.job(target, details=False)
        if view["cause"] == "upstream":  # dragged down by another
            return "CANCELLED"
        if view["state"] == "held" and view["kind"] == "gate":  # there, a script would run and poll
            return "RUNNING"
        return _STATUS.get(view["state"], "PENDING")

    def fetch_logs(self, job_id: str) -> str:
        """Its lines with a newline between them, so without one at the end, as Titan has it."""
        target = self._find(job_id)
        text = self.client.logs(target).decode(errors="replace") if target else ""
        return text[:-1] if text.endswith("\n") else text

    def stop_service(self, service_id: str) -> str:
        if not service_id:
            raise ValueError("a service id is needed")
        try:
            self.client.request("service_set", {"name": _name(service_id), "desired": "stopped"})
        except errors.Refused as e:
            return "ERROR: %s" % e
        return "STOPPED: %s" % _full(service_id)

    # ---- requests of Titan's own protocol

    def _send_request(self, op_code: int, payload: str) -> str:
        """One frame to the listener for Titan's protocol, at TITAN_HOST and TITAN_PORT; its answer as a text. Errors are
        texts, too, as there."""
        body = payload.encode()
        try:
            with socket.create_connection((TITAN_HOST, TITAN_PORT)) as conn:
                conn.sendall(struct.pack(">BBBBI", 1, op_code, 0, 0, len(body)) + body)
                conn.settimeout(ANSWER_SECONDS)
                head = _read_exactly(conn, 8)
                return _read_exactly(conn, struct.unpack(">I", head[4:])[0]).decode(errors="replace")
        except EOFError:
            return "ERROR: No Response"
        except OSError as e:
            return "CONNECTION_ERROR: %s" % e

    # ---- the store

    def store_put(self, key: str, value: str) -> str:
        self.client.kv.set(USER_KEY + key, str(value))
        return "OK"

    def store_get(self, key: str) -> str:
        value = self.client.kv.get(USER_KEY + key)
        return "NULL" if value is None else value.decode(errors="replace")

    def store_sadd(self, key: str, member: str) -> int:
        return self.client.kv.sadd(USER_KEY + key, member)

    def store_smembers(self, key: str) -> List[str]:
        return [member.decode(errors="replace") for member in self.client.kv.smembers(USER_KEY + key)]

    # ---- files

    def upload_file(self, path: str) -> str:
        return self._upload(path, "UPLOAD_SUCCESS")

    def deploy_script(self, path: str) -> str:
        return self._upload(path, "DEPLOY_SUCCESS")

    def upload_project_folder(self, folder: str, project_name: Optional[str] = None) -> str:
        """Packs a folder as NAME.zip and uploads it."""
        name = (project_name or os.path.basename(os.path.abspath(folder))) + ".zip"
        try:
            with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
                for place, folders, files in os.walk(folder):
                    folders[:] = [one for one in folders if one != "__pycache__"]
                    for file in files:
                        path = os.path.join(place, file)
                        if os.path.abspath(path) != os.path.abspath(name):
                            archive.write(path, os.path.relpath(path, folder))
            return self.upload_file(name)
        finally:
            if os.path.exists(name):
                os.unlink(name)

    def fetch_artifact(self, name: str, save_path: Optional[str] = None) -> bool:
        digest = self._file_hash(name)
        if digest is None:
            return False
        with open(save_path or name, "wb") as file:
            file.write(self.client.get_blob(digest))
        return True

    def publish_artifact(self, key: str, path: str) -> bool:
        """Uploads a file, and notes its name under a key of the store."""
        if self.upload_file(path) != "UPLOAD_SUCCESS":
            return False
        return self.store_put(key, os.path.basename(path)) == "OK"

    def get_artifact(self, key: str, save_path: Optional[str] = None) -> bool:
        name = self.store_get(key)
        return name != "NULL" and self.fetch_artifact(name, save_path or os.path.join("/tmp", name))

    def _upload(self, path: str, answer: str) -> str:
        if not os.path.isfile(path):
            return "ERROR: File not found at: %s" % path
        data = _read(path)
        digest = self.client.put_blob(data)
        self.client.kv.set(FILE_KEY + os.path.basename(path), "%s %d %d" % (digest.hex(), len(data), time.time() * 1000))
        return answer

    def _file_hash(self, name: str) -> Optional[bytes]:
        value = self.client.kv.get(FILE_KEY + name)
        return bytes.fromhex(value.decode().split(" ")[0]) if value else None


def jobs_of_yaml(text: Mapping[str, Any], folder: str) -> List[TitanJob]:
    """The jobs of Titan's YAML; delays there are seconds."""
    name = text.get("name", "titan_agent")
    is_project = text.get("project", True)
    jobs = []
    for one in text.get("jobs", []):
        file = "%s.zip/%s" % (name, one["file"]) if is_project else os.path.join(folder, one["file"])
        jobs.append(TitanJob(
            one["id"], file, "SERVICE" if one.get("type", "run") == "service" else "RUN_PAYLOAD", str(one.get("args", "")),
            one.get("depends_on", []), int(one.get("port", 0)), is_project, int(one.get("priority", 1)),
            int(float(one.get("delay", 0)) * 1000), bool(one.get("affinity", False)), one.get("requirement", "GENERAL"),
            one.get("hitl_message"), int(one.get("max_wait_seconds", 172800))))
    return jobs


def _find() -> Client:
    """Reeve's own way first; else where Titan's variables point."""
    says_reeve = any(os.environ.get(name) for name in ("REEVE_SERVER", "REEVE_DATA")) or os.path.isdir(".reeve")
    says_titan = any(os.environ.get(name) for name in ("TITAN_HOST", "TITAN_PORT"))
    return Client("%s:%d" % (TITAN_HOST, TITAN_PORT)) if says_titan and not says_reeve else Client()


def _read_exactly(conn: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        piece = conn.recv(count - len(got))
        if not piece:
            raise EOFError
        got += piece
    return got


def _full(id: str) -> str:
    return id if id.startswith(PREFIX) else PREFIX + id


def _fit(id: str) -> str:
    """An id as the name of a job."""
    return "".join("_" if ch < " " or ch in "/\x7f" else ch for ch in id)


def _name(id: str) -> str:
    return _fit(_full(id))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
