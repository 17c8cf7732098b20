"""By TLS: the same clients and the same worker."""

import asyncio
import hashlib
import os
import ssl
import subprocess
import tempfile
import unittest

import lab
import reeve
import tasks
from reeve import errors


class Tls(lab.Lab):
    @classmethod
    def setUpClass(cls) -> None:
        cls.data = tempfile.mkdtemp(prefix="reeve-sdk-")
        subprocess.run([lab.BINARY, "cert", "init", "--data", cls.data, "127.0.0.1"], check=True, stdout=subprocess.DEVNULL)
        cls.start_server()
        with open(os.path.join(cls.data, "address"), encoding="utf-8") as file:
            cls.address = "tls://" + file.readline().strip().replace("tls://", "").replace("tls:", "")
        reeve.set_default_client(reeve.Client(cls.address, data=cls.data))

    def test_the_authority_of_the_data_directory_is_believed(self) -> None:
        self.assertGreater(self.client.kv.set("k", "v"), 0)
        self.assertTrue(self.client.connect().address.startswith("tls:"))
        data = os.urandom(3_000_000)
        self.assertEqual(self.client.get_blob(self.client.put_blob(data)), data)

    def test_another_authority_is_not(self) -> None:
        with open(os.path.join(self.data, "admin.token"), encoding="utf-8") as file:
            token = file.read().strip()
        with self.assertRaises(errors.NoServer):
            reeve.Client(self.address, token=token, data="/nothing").connect()
        host, port = self.address[6:].rsplit(":", 1)
        certificate = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((host, int(port))))
        pinned = reeve.Client(self.address, token=token, data="/nothing", pin=hashlib.sha256(certificate).hexdigest())
        self.assertEqual(pinned.kv.get("nothing"), None)
        with self.assertRaisesRegex(errors.NoServer, "not the one that was pinned"):
            reeve.Client(self.address, token=token, data="/nothing", pin="00" * 32).connect()

    def test_asyncio(self) -> None:
        async def body() -> None:
            async with reeve.AsyncClient(self.address, data=self.data) as client:
                self.assertEqual(await client.kv.get("nothing"), None)

        asyncio.run(asyncio.wait_for(body(), lab.SECONDS))

    def test_a_worker(self) -> None:
        self.python_worker("tasks", "--server", self.address, "--data", self.data)
        self.assertEqual(tasks.add.submit(1, 2).result(lab.SECONDS), 3)
        self.assertEqual(tasks.length.submit(tasks.big.submit(500_000).result(lab.SECONDS)[:10_000]).result(lab.SECONDS), 10_000)
        jobs = tasks.noop.map(range(2000))
        self.assertEqual(jobs[0].flow.wait(lab.SECONDS).state, "succeeded")


if __name__ == "__main__":
    unittest.main()
