"""Makes the wheel of this package, from Python alone: nothing is fetched, and the same sources make the same bytes.

    python3 backend.py FOLDER      writes reeve-VERSION-py3-none-any.whl there and prints its path

It is also the backend (PEP 517, PEP 660) that `pip install ./sdk/python` calls, so that this works without a network, too.
"""

import base64
import hashlib
import os
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "src")
SDIST = ("backend.py", "pyproject.toml", "README.md")


def _version():
    found = {}
    with open(os.path.join(SOURCE, "reeve", "_version.py"), encoding="utf-8") as file:
        exec(file.read(), found)
    return found["__version__"]


def _metadata():
    return {
        "METADATA": "Metadata-Version: 2.1\nName: reeve\nVersion: %s\n"
                    "Summary: Reeve from Python: flows as code, tasks as functions served by a warm worker\n"
                    "License: Apache-2.0\nRequires-Python: >=3.9\n" % _version(),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: reeve\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "top_level.txt": "reeve\ntitan_sdk\n",
    }


def _modules():
    """(name in the package, path), sorted."""
    for folder, folders, files in sorted(os.walk(SOURCE)):
        folders[:] = [one for one in folders if one != "__pycache__"]
        for name in sorted(files):
            if name.endswith(".py") or name == "py.typed":
                path = os.path.join(folder, name)
                yield os.path.relpath(path, SOURCE), path


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _write(folder, files):
    """The files, the metadata, and the record of both, as a wheel."""
    info = "reeve-%s.dist-info" % _version()
    files = dict(files, **{"%s/%s" % (info, name): text.encode() for name, text in _metadata().items()})
    record = ["%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
              for name, data in files.items()]
    files["%s/RECORD" % info] = ("".join(record) + "%s/RECORD,,\n" % info).encode()
    wheel = "reeve-%s-py3-none-any.whl" % _version()
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, whenever it is made
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {name: _read(path) for name, path in _modules()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {"reeve.pth": SOURCE.encode() + b"\n"})


def build_sdist(sdist_directory, config_settings=None):
    top = "reeve-%s" % _version()
    with tarfile.open(os.path.join(sdist_directory, top + ".tar.gz"), "w:gz") as archive:
        for name in SDIST:
            archive.add(os.path.join(HERE, name), os.path.join(top, name))
        for name, path in _modules():
            archive.add(path, os.path.join(top, "src", name))
    return top + ".tar.gz"


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
