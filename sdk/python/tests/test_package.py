"""What is installed is what is here, and installing it takes nothing from outside."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from typing import Dict, List

import lab
import reeve

PACKAGE = os.path.dirname(lab.SOURCE)


class Package(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="reeve-package-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def run_here(self, arguments: List[str], **env: str) -> str:
        """No index of packages is reached: neither by settings of this user, nor by the network."""
        offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PATH": os.environ["PATH"], "HOME": self.folder}
        done = subprocess.run(arguments, env={**offline, **env}, cwd=self.folder, capture_output=True, text=True, timeout=lab.SECONDS * 3)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def wheel(self, name: str = "dist") -> str:
        return self.run_here([sys.executable, os.path.join(PACKAGE, "backend.py"), os.path.join(self.folder, name)]).strip()

    def venv(self) -> Dict[str, str]:
        """Programs of a fresh environment, by name."""
        place = os.path.join(self.folder, "venv")
        python = next((one for one in (sys.executable, "/usr/bin/python3") if _has_venv(one)), None)
        if python is None:
            self.skipTest("no Python here can make an environment: Debian has it in python3-venv")
        self.run_here([python, "-m", "venv", place])
        return {name: os.path.join(place, "bin", name) for name in ("python", "pip")}

    def test_a_wheel_has_all_modules_and_is_made_alike(self) -> None:
        wheel = self.wheel()
        names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("reeve-")}
        here = {os.path.relpath(path, lab.SOURCE) for kind in ("*.py", "py.typed") for path in glob.glob(os.path.join(lab.SOURCE, "*", kind))}
        self.assertEqual(names, here)
        with open(wheel, "rb") as one, open(self.wheel("again"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_the_version_is_that_of_the_program(self) -> None:
        with open(os.path.join(lab.ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            found = re.search(r"project\(reeve VERSION ([0-9.]+)", file.read())
        assert found is not None
        self.assertEqual(reeve.__version__, found.group(1))
        self.assertIn("reeve-%s-" % found.group(1), self.wheel())

    def test_the_wheel_is_installed_without_a_network(self) -> None:
        wheel, venv = self.wheel(), self.venv()
        self.run_here([venv["pip"], "install", "--quiet", wheel])
        said = self.run_here([venv["python"], "-c", "import reeve, reeve.worker, titan_sdk; print(reeve.__version__, reeve.__file__)"])
        self.assertTrue(said.startswith("%s %s/venv/" % (reeve.__version__, self.folder)), said)
        self.assertIn("Serves the tasks", self.run_here([venv["python"], "-m", "reeve.worker", "--help"]))
        self.run_here([venv["pip"], "check"])
        self.run_here([venv["pip"], "uninstall", "--quiet", "--yes", "reeve"])

    def test_so_is_the_source(self) -> None:
        venv = self.venv()
        for how in ([], ["--editable"]):
            self.run_here([venv["pip"], "install", "--quiet", *how, PACKAGE])
            self.assertEqual(self.run_here([venv["python"], "-c", "import reeve; print(reeve.__version__)"]).strip(), reeve.__version__)


def _has_venv(python: str) -> bool:
    return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0


if __name__ == "__main__":
    unittest.main()
