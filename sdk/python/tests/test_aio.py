"""The asyncio client: the same operations, on one loop."""

import asyncio
import unittest

import lab
import reeve
from reeve import errors


class Asyncio(lab.Lab):
    def run_with(self, function):  # type: ignore[no-untyped-def]
        async def body() -> None:
            async with reeve.AsyncClient(data=self.data) as client:
                await function(client)

        asyncio.run(asyncio.wait_for(body(), lab.SECONDS))

    def test_many_requests_share_the_connection(self) -> None:
        async def body(client: reeve.AsyncClient) -> None:
            await asyncio.gather(*(client.kv.incr("n") for _ in range(200)))
            self.assertEqual(await client.kv.get("n"), b"200")
            flow = await client.submit({"jobs": {"a": {"gate": {"message": "?"}}}})
            waiting = asyncio.ensure_future(client.wait(flow + "/a"))
            self.assertEqual((await client.questions(flow=flow))[0]["job"], flow + "/a")
            await client.approve(flow + "/a")
            self.assertEqual((await waiting).state, "succeeded")
            with self.assertRaises(errors.NotFound):
                await client.flow("f9zzz")
            data = b"x" * 2_500_000
            self.assertEqual(await client.get_blob(await client.put_blob(data)), data)

        self.run_with(body)

    def test_a_flow_as_code_and_its_log(self) -> None:
        self.plain_worker()

        async def body(client: reeve.AsyncClient) -> None:
            flow = reeve.Flow("aio")
            one = flow.job("one", "echo one; echo two")
            await client.submit(flow)
            text = b""
            async for piece in client.follow(one):
                text += piece
            self.assertEqual(text, b"one\ntwo\n")
            self.assertEqual((await client.wait(flow)).state, "succeeded")

        self.run_with(body)

    def test_streams_end_when_they_are_left(self) -> None:
        async def body(client: reeve.AsyncClient) -> None:
            async for event in client.kv.watch("k"):
                if not event["gap"]:
                    self.assertEqual(event["key"], b"k")
                    break
                await client.kv.set("k", "1")
            self.assertEqual(await client.kv.get("k"), b"1")

        self.run_with(body)

    def test_a_wait_outlives_a_kill_of_the_server(self) -> None:
        async def body(client: reeve.AsyncClient) -> None:
            flow = await client.submit({"jobs": {"a": {"gate": {"message": "?"}}}})
            waiting = asyncio.ensure_future(client.wait(flow + "/a"))
            await client.kv.get("k")  # answered behind the wait: it is under way
            await asyncio.get_event_loop().run_in_executor(None, type(self).restart_server)
            await client.approve(flow + "/a")
            self.assertEqual((await waiting).state, "succeeded")

        self.run_with(body)


if __name__ == "__main__":
    unittest.main()
