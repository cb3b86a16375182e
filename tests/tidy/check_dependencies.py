"""docs/dependencies.md names each package of deploy/packages*.txt and of the package.json files, and no
other, with the version that is installed (Debian's, as far as the table says it) or locked (npm's).

usage: check_dependencies.py ROOT
"""

import json
import re
import subprocess
import sys
from pathlib import Path

NPM_FOLDERS = ("web", "tests/e2e/oidc")


def documented(text):
    """{package: version}; one version may be that of all packages of its row."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", cells[0]) if line.startswith("| `") else []
        versions = cells[1].split() if names else []
        if len(versions) not in (0, 1, len(names)):
            raise SystemExit(f"docs/dependencies.md: {len(versions)} versions of {len(names)} packages: {line}")
        for at, name in enumerate(names):
            found[name] = versions[at if len(versions) == len(names) else 0] if versions else ""
    return found


def debian_packages(root):
    for path in sorted((root / "deploy").glob("packages*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield line.split()[0]


def npm_packages(root):
    """{package: locked version} of those that are asked for by name."""
    found = {}
    for folder in NPM_FOLDERS:
        asked = json.loads((root / folder / "package.json").read_text(encoding="utf-8"))
        lock = json.loads((root / folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        for name in {**asked.get("dependencies", {}), **asked.get("devDependencies", {})}:
            found[name] = lock[f"node_modules/{name}"]["version"]
    return found


def installed_version(package):
    """Upstream's version of a Debian package; "" if it is not installed."""
    words = ["dpkg-query", "-W", "-f=${Version}", package]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return ""  # no Debian
    return done.stdout.split(":")[-1] if done.returncode == 0 else ""


def is_version(wanted, version):
    """Whether `version` begins with the numbers of `wanted`: 1.51 is 1.51.1-3, and not 1.5."""
    return re.match(re.escape(wanted) + r"(?![0-9])", version) is not None


def problems(text, debian, npm, version_of=installed_version):
    known = documented(text)
    for name in sorted((set(debian) | set(npm)) - set(known)):
        yield f"{name} is not there: say its version, and why hai needs it"
    for name in sorted(set(known) - set(debian) - set(npm)):
        yield f"{name} is there, but neither in deploy/packages*.txt nor in a package.json"
    for name, version in npm.items():
        if name in known and known[name] != version:
            yield f"{name} is said to be {known[name]}, locked is {version}"
    for name in debian:
        version = version_of(name) if known.get(name) else ""
        if version and not is_version(known[name], version):
            yield f"{name} is said to be {known[name]}, installed is {version}"


def main():
    root = Path(sys.argv[1])
    text = (root / "docs/dependencies.md").read_text(encoding="utf-8")
    found = list(problems(text, list(debian_packages(root)), npm_packages(root)))
    for problem in found:
        print(f"docs/dependencies.md: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
