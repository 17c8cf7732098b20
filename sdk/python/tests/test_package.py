"""What is installed is what is here."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import lab


def _can_build(python: str) -> bool:
    return subprocess.run([python, "-c", "import setuptools, wheel"], capture_output=True).returncode == 0


class Package(unittest.TestCase):
    def test_a_wheel_has_all_modules_and_works(self) -> None:
        python = next((one for one in (sys.executable, "/usr/bin/python3") if _can_build(one)), None)
        if python is None:
            self.skipTest("no Python here has setuptools and wheel")
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "python")
            shutil.copytree(os.path.dirname(lab.SOURCE), copy, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info"))
            subprocess.run([python, "-c", "import setuptools.build_meta as b; b.build_wheel('%s')" % folder], cwd=copy,
                           check=True, capture_output=True)
            wheel = glob.glob(os.path.join(folder, "reeve-*.whl"))[0]
            names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("reeve-")}
            here = {os.path.relpath(path, lab.SOURCE) for kind in ("*.py", "py.typed")
                    for path in glob.glob(os.path.join(lab.SOURCE, "*", kind))}
            self.assertEqual(names, here)
            done = subprocess.run([sys.executable, "-c", "import reeve, reeve.worker, titan_sdk; print(reeve.__file__)"],
                                  env={"PYTHONPATH": wheel, "PATH": os.environ["PATH"]}, cwd=folder, capture_output=True, text=True)
            self.assertTrue(done.stdout.startswith(wheel), done.stderr)


if __name__ == "__main__":
    unittest.main()
