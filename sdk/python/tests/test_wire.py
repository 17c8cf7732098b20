"""The codec, the tables and the exceptions: without a server."""

import json
import os
import subprocess
import unittest

import lab
from reeve import _place, _tlv, _wire, errors, keys
from reeve._protocol import Reader, pack
from reeve.task import pack_call, unpack_call


class Codec(unittest.TestCase):
    def test_every_golden_message_is_read_and_written_to_the_same_bytes(self) -> None:
        count = 0
        with open(os.path.join(lab.ROOT, "tests", "golden", "wire-v2.txt"), encoding="utf-8") as file:
            for line in file:
                word, text = line.split(" ")[:2]
                data = bytes.fromhex(text)
                if word in ("run",):  # the body of a job: no frame around it
                    self.assertEqual(_tlv.encode("run", _tlv.decode("run", data)), data)
                    count += 1
                    continue
                frame = Reader().feed(data)[0]
                self.assertEqual(_wire.OPCODES[frame.op][0], word)
                body = _tlv.encode(_wire.OPCODES[frame.op][1], frame.message)
                self.assertEqual(body, data[16:], word)
                count += 1
        self.assertGreater(count, 80)

    def test_frames_are_cut_at_any_byte(self) -> None:
        data = pack(_wire.Op.PING, {"number": 300}, 7) + pack(_wire.Op.KV_GET, {"keys": [{"text": b"k"}], "most": 5}, 8)
        for cut in range(len(data) + 1):
            reader = Reader()
            frames = reader.feed(data[:cut]) + reader.feed(data[cut:])
            self.assertEqual([(f.op, f.request) for f in frames], [(_wire.Op.PING, 7), (_wire.Op.KV_GET, 8)])
            self.assertEqual(frames[0].message["number"], 300)
            self.assertEqual(frames[1].message["keys"][0]["text"], b"k")

    def test_a_field_that_no_message_has_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "message ping has no field nummer"):
            _tlv.encode("ping", {"nummer": 1})
        with self.assertRaisesRegex(ValueError, "pause.scope is one of flow, pool, tenant"):
            _tlv.encode("pause", {"scope": "world"})

    def test_bytes_that_end_too_early_are_refused(self) -> None:
        data = _tlv.encode("kv_get", {"keys": [{"text": b"key"}, {"text": b"other"}]})
        for cut in range(1, len(data)):
            with self.assertRaises(_tlv.Malformed):
                _tlv.decode("kv_get", data[:cut])

    def test_unknown_tags_are_skipped(self) -> None:
        self.assertEqual(_tlv.decode("ping", b"\x02\x05" + b"\xd0\x0f\x07" + b"\xd3\x0f\x03abc"), {"number": 5})

    def test_numbers_of_every_size(self) -> None:
        for value in (0, 1, -1, 127, 128, -128, 1 << 40, -(1 << 40), (1 << 63) - 1, -(1 << 63)):
            self.assertEqual(_tlv.decode("moment", _tlv.encode("moment", {"ms": value}))["ms"], value)


class Tables(unittest.TestCase):
    def test_every_code_of_the_error_table_has_its_exception(self) -> None:
        for code in _wire.ERRORS:
            self.assertIn(code, errors.CODES)
            self.assertIsInstance(errors.refusal(code, "words"), errors.Refused)
        self.assertEqual(type(errors.refusal("of a newer server", "words")), errors.Refused)
        self.assertTrue(errors.refusal("busy", "").retryable)
        self.assertFalse(errors.refusal("not_found", "").retryable)

    def test_every_key_of_flow_files_can_be_given(self) -> None:
        with open(os.path.join(lab.ROOT, "docs", "guides", "flows.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        self.assertEqual(set(schema["$defs"]["job"]["properties"]), set(keys.KEYS))
        with self.assertRaisesRegex(TypeError, "no key retrys"):
            keys.as_spec({"retrys": 3})

    def test_arguments_survive_whatever_they_say(self) -> None:
        for value in ("${item}", "$${params.x}", 'quote " and \\', "ü\n", [1, {"a": None}], 1.5, True):
            needs: list = []
            text = pack_call((value,), {"key": value}, "json", needs)
            self.assertNotIn("${", text)
            self.assertEqual(unpack_call(text.encode(), "json", {}), ((value,), {"key": value}))
        with self.assertRaises(errors.Invalid):
            pack_call(({"$args": 1},), {}, "json", [])
        with self.assertRaisesRegex(errors.Limit, "put large ones into a blob"):
            pack_call(("x" * 100_000,), {}, "json", [])
        pickled = pack_call(({1, 2},), {}, "pickle", [])
        self.assertEqual(unpack_call(pickled.encode(), "pickle", {}), (({1, 2},), {}))
        with self.assertRaisesRegex(errors.Invalid, "does not read any"):
            unpack_call(pickled.encode(), "json", {})


class Types(unittest.TestCase):
    def test_mypy_strict_finds_nothing(self) -> None:
        done = subprocess.run(["mypy", "--config-file", "pyproject.toml", "src"], cwd=os.path.dirname(lab.SOURCE),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_mistakes_of_users_are_found(self) -> None:
        text = """import reeve
@reeve.task(retries=3)
def add(x: int, y: int) -> int:
    return x + y
good: int = add(1, 2)
add("a", 2)
reeve.Flow("x").job("a", ["true"], retries="many")
reeve.Flow("x").job("a", "true", retrys=3)
reeve.Flow("x").job("a", gate="ok?", timeout=5)
three = add.submit(1, y=2)
add.submit(three, y=three)
add.submit(1)
add.submit(1, z=2)
add.options(retries=1).submit("a", 2)
@reeve.task
async def nap(seconds: float) -> str:
    return "slept"
number: int = three.result()
slept: str = nap.submit(1.5).result()
wrong: str = three.result()
state: str = reeve.Client().wait(three).state
"""
        done = subprocess.run(["mypy", "--strict", "--enable-incomplete-feature=Unpack", "-c", text], env={**os.environ, "MYPYPATH": lab.SOURCE}, cwd=lab.SOURCE,
                              capture_output=True, text=True)
        found = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
        self.assertEqual(found, ["6", "7", "8", "12", "13", "14", "20"], done.stdout)


class Addresses(unittest.TestCase):
    def test_addresses_are_read_as_on_the_command_line(self) -> None:
        for text, place in {"h": ("h", 7070), "h:80": ("h", 80), "tls://h": ("h", 7070), "tls://h:443": ("h", 443), "::1": ("::1", 7070),
                            "[::1]": ("::1", 7070), "[::1]:9": ("::1", 9), "tls://[::1]:9": ("::1", 9)}.items():
            self.assertEqual(_place.split(text), place)
        for text in ("", ":7070", "h:", "h:x", "http://h", "http://h:7070"):
            with self.assertRaises(errors.Invalid):
                _place.split(text)


if __name__ == "__main__":
    unittest.main()
