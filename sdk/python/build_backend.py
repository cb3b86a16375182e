"""Packs the SDK for pip (the hooks of PEP 517) with the standard library alone, so that
`pip install ./sdk/python` needs no network. Name and version repeat pyproject.toml; a test compares."""

import base64
import hashlib
import os
import tarfile
import zipfile

NAME, VERSION = "hai-sdk", "0.1.0"
PACKAGES = ["hai", "hfai"]
STEM = f"{NAME.replace('-', '_')}-{VERSION}"
INFO = f"{STEM}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: What a training program says to hai while it runs
Requires-Python: >=3.8
"""
WHEEL = """Wheel-Version: 1.0
Generator: hai
Root-Is-Purelib: true
Tag: py3-none-any
"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {path: _read(path) for path in _sources()}
    files[f"{INFO}/METADATA"] = METADATA.encode()
    files[f"{INFO}/WHEEL"] = WHEEL.encode()
    record = "".join(f"{path},{_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{INFO}/RECORD"] = f"{record}{INFO}/RECORD,,\n".encode()
    name = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path), data)  # No times: the same source, the same wheel.
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"{STEM}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as archive:
        for path in _sources() + ["pyproject.toml", "build_backend.py", "README.md"]:
            archive.add(path, f"{STEM}/{path}")
    return name


def _sources():
    """pip calls the hooks in this folder."""
    found = []
    for package in PACKAGES:
        for folder, _, names in os.walk(package):
            found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _digest(data):
    text = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    return "sha256=" + text.rstrip("=")
