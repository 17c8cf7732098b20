"""Runs the tests of the Python SDK against the built program (REEVE_BINARY, else build/release/reeve) and prints TAP.

    python3 sdk/python/tests/run.py [test_module[.Class[.test]] …]
"""

import sys
import unittest
from typing import Any, List, Tuple

import lab  # noqa: F401: finds the packages


class Tap(unittest.TestResult):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.subtest_failed: List[Tuple[Any, Any]] = []

    def _say(self, test: unittest.TestCase, good: bool, note: str = "") -> None:
        self.count += 1
        print("%s %d - %s%s" % ("ok" if good else "not ok", self.count, test.id(), note), flush=True)

    def _bad(self, test: unittest.TestCase, error: Any) -> None:
        self._say(test, False)
        for line in self._exc_info_to_string(error, test).splitlines():  # type: ignore[attr-defined]
            print("# " + line)
        sys.stdout.flush()

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._say(test, True)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._bad(test, err)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._bad(test, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._say(test, True, " # SKIP " + reason)


def main() -> int:
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(lab.TESTS, "test_*.py")
    result = Tap()
    suite.run(result)
    print("1..%d" % result.count)
    return 0 if result.wasSuccessful() and result.count else 1


if __name__ == "__main__":
    sys.exit(main())
