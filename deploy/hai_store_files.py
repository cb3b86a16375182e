"""The files of a machine of hai's store (hai-store-setup): what they are, whether this machine has them already,
and whether they may be written."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

PACKAGES = ("postgresql-15", "patroni", "etcd-server", "etcd-client", "pgbackrest")
DATA = "var/lib/postgresql/15/hai"
ETCD_DATA = "var/lib/etcd/hai"
ETCD_STATE = "ETCD_INITIAL_CLUSTER_STATE"
DEBIANS_ETCD = "var/lib/etcd/default"
CONFIG = "etc/patroni/config.yml"
ENVIRONMENT = "etc/patroni_env.conf"
ETCD = "etc/default/etcd"
PGBACKREST = "etc/pgbackrest.conf"
PORT = "5432"
# There as long as a run is not through: what it says was written, and what apt-get made, is this program's.
BEGUN = "etc/hai-store.begun"
EXAMPLES = {"db1": "192.0.2.11", "db2": "192.0.2.12", "db3": "192.0.2.13"}
# In config.yml and patroni_env.conf: the certificates and keys that they name.
NAMED_FILE = re.compile(r"(?im)^\s*\w*(?:ssl_\w+_file|cert|key)\s*[:=]\s*[\"']?(/[^\"'\s]+)")


class Failure(Exception):
    """What is wrong, with its remedy: one line for a person."""


def password(secret, what):
    """One for each use, so that none of them opens what another one is for."""
    return hashlib.sha256(f"hai-store {what} {secret}".encode()).hexdigest()[:48]


def rendered(name, text, own, members, network, secret):
    """A template, whose examples are db1 and its addresses, as it is on the machine `own`."""
    addresses = dict(zip(EXAMPLES.values(), members.values()))
    found = []
    for line in text.splitlines():
        key, is_setting, _ = line.partition("=")
        if line.startswith("ETCD_INITIAL_CLUSTER="):
            line = key + "=" + ",".join(f"{each}=http://{host(at)}:2380" for each, at in members.items())
        elif name in ("etcd.default", "patroni_env.conf") and is_setting and not line.startswith("#"):
            line = line.replace(EXAMPLES["db1"], host(members[own])).replace("=db1", f"={own}")
            if key.startswith("PATRONI_") and key.endswith("_PASSWORD"):
                line = f"{key}={password(secret, key)}"
        else:
            line = line.replace("192.0.2.0/24", network)
            line = re.sub(r"192\.0\.2\.1[123]", lambda at: host(addresses[at.group()]), line)
        found.append(line)
    return "\n".join(found) + "\n"


def host(address):
    return f"[{address}]" if ":" in address else address


def files_of(own, members, network, secret, templates, joins):
    """[(path, mode, group, text)] of all that is written; `joins`: a store that is there."""
    def of(name):
        text = rendered(name, (templates / name).read_text(), own, members, network, secret)
        return text.replace(f"\n{ETCD_STATE}=new\n", f"\n{ETCD_STATE}=existing\n") if joins else text

    return [
        (CONFIG, 0o644, None, of("patroni.yml")),
        (ENVIRONMENT, 0o600, None, of("patroni_env.conf")),
        (ETCD, 0o644, None, of("etcd.default")),
        (PGBACKREST, 0o640, "postgres", of("pgbackrest.conf")),
        ("etc/systemd/system/patroni.service.d/watchdog.conf", 0o644, None, of("patroni-watchdog.conf")),
    ]  # fmt: skip


def settings(text):
    """{key: value} of lines KEY=VALUE."""
    found = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {key.strip(): value.strip().strip("\"'") for key, _, value in found}


def adopted(path, found, text, own, members, network):
    """`found`, which is there already, as this machine is to have it: what an administrator has changed stays,
    and name and address of the machine that it was copied from become this one's. None if it is not of this
    store. `text` is what would be written otherwise."""
    is_same = False
    if path == PGBACKREST:
        is_same = "\n[hai]" in "\n" + found  # the place of backups is the administrator's to say
    elif path == CONFIG:
        is_same = all(mark in found for mark in (network, *(f"{host(at)}:2379" for at in members.values())))
    elif path == ETCD:
        is_same = settings(found).get("ETCD_NAME") == own and etcd_members(found) == etcd_members(text)
    elif path == ENVIRONMENT and (name := settings(found).get("PATRONI_NAME")) in members:
        if name != own:
            address = rf"(?<![\w.]){re.escape(host(members[name]))}(?![\w.])"
            found = re.sub(address, lambda _: host(members[own]), found)
            found = re.sub("(?m)^PATRONI_NAME=.*", f"PATRONI_NAME={own}", found)
        theirs, marks = settings(found), ("_NAME", "_CONNECT_ADDRESS", "_PASSWORD")
        is_same = all(theirs.get(key) == value for key, value in settings(text).items() if key.endswith(marks))
    return found if is_same else None


def etcd_members(text):
    """{(name, address)}: whether they speak TLS is the administrator's to say."""
    return set(re.findall(r"([\w-]+)=https?://(.+?):\d+(?:,|$)", settings(text).get("ETCD_INITIAL_CLUSTER", "")))


def has_begun(root, files, adopt):
    """Whether this machine has this very store. Raises if it has another one."""
    begun = [path for path in (DATA, ETCD_DATA) if (root / path).exists()]
    for path, _, _, text in files if begun else []:
        if path not in (CONFIG, ENVIRONMENT, ETCD):
            continue
        found = (root / path).read_text() if (root / path).exists() else None
        if found is None or adopt(path, found, text) != found:
            raise Failure(
                f"/{begun[0]} is there and /{path} does not say this name, machines, network and secret: this machine "
                "has another store already, and nothing was changed. Give the same ones as before; a machine that is "
                "to be made anew: docs/operations/ha-store.md, what happens when a machine is lost"
            )
    return bool(begun)


def check_clusters(root):
    """Raises if PostgreSQL has another cluster at the port of the store."""
    try:
        below = {**os.environ, "PG_CLUSTER_CONF_ROOT": str(root / "etc/postgresql")}
        said = subprocess.run(("pg_lsclusters", "-h"), env=below, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        return
    for line in said.splitlines():
        version, name, port, _, _, data, *_ = line.split()
        if port == PORT and data != f"/{DATA}":
            raise Failure(
                f"PostgreSQL has the cluster {version}/{name} here at port {PORT}, which is the store's, and nothing "
                f"was changed: `pg_dropcluster --stop {version} {name}` if nothing is in it, as when PostgreSQL was "
                f"installed just now, or give it another port in /etc/postgresql/{version}/{name}/postgresql.conf and "
                "restart it; then run this again"
            )


def packaged(root):
    """{(path, MD5)} of the files of /etc that came with the packages, as they came."""
    words = ("dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Conffiles}\n", *PACKAGES)
    try:
        said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except FileNotFoundError:
        return set()
    return {tuple(line.split()[:2]) for line in said.splitlines() if line.strip()}


def digest(content):
    return hashlib.sha256(content).hexdigest()


def check_free(root, files, adopt, joins):
    """Of `files` what is to be written. Raises if something else is served here: none of that may be stopped, removed or
    written over; and if a machine that replaces a lost one has not the store's own settings."""
    begun = root / BEGUN
    own = begun.read_text().split() if begun.exists() else []
    as_it_came = packaged(root)
    fresh = []
    for path, mode, group, text in files:
        found = (root / path).read_bytes() if (root / path).exists() else None
        is_own = found is not None and digest(found) in own
        before = None if found is None else found.decode(errors="replace")
        kept = None
        if found is not None and path != ETCD and (joins or not is_own):
            kept = adopt(path, before, text)
        if joins and path in (CONFIG, ENVIRONMENT, PGBACKREST) and kept is None:
            raise Failure(
                f"/{path} is not here as the store has it, with these machines, network and secret, and nothing was "
                "changed: copy it from a machine that lives, as docs/operations/ha-store.md has it for one that is "
                "replaced for good, so that what was changed there holds here, too"
            )
        is_packaged = found is not None and (f"/{path}", hashlib.md5(found).hexdigest()) in as_it_came
        if found not in (None, text.encode()) and kept is None and not is_own and not is_packaged:
            stays = ". One with a section [hai] is left as it is" if path == PGBACKREST else ""
            raise Failure(
                f"/{path} is there with another text: this machine serves something else with it, and nothing was "
                f"changed. Take another machine, or move the file away if nobody needs it{stays}"
            )
        for name in sorted({*NAMED_FILE.findall(kept or "")} - {*NAMED_FILE.findall(text)}):
            if not (root / name[1:]).exists():
                raise Failure(
                    f"/{path} names {name}, which is not here, and nothing was changed: put this machine's there "
                    "(docs/operations/ha-store.md, PostgreSQL that proves who it is), and run this again"
                )
        if kept is None or kept != before:
            fresh.append((path, mode, group, kept or text))
    check_clusters(root)
    if begun.exists():
        return fresh
    if (root / DEBIANS_ETCD).exists():
        raise Failure(
            f"/{DEBIANS_ETCD} is there: this machine's etcd serves something already, and nothing was changed. If "
            f"nothing is in it, as when etcd was installed just now: `systemctl stop etcd; rm -r /{DEBIANS_ETCD}`, "
            "and run this again"
        )
    is_asked = root == pathlib.Path("/") and shutil.which("systemctl")
    for unit in ("etcd", "patroni") if is_asked else ():
        if subprocess.run(("systemctl", "is-active", "--quiet", unit), check=False).returncode == 0:
            raise Failure(f"{unit} runs here already, and nothing was changed: take another machine, or "
                          f"`systemctl disable --now {unit}` if nobody needs it, and run this again")  # fmt: skip
    return fresh


def begin(root, files):
    """What a run that is cut off has written may be written over by the next one, whose line is put right:
    until etcd has begun, which keeps what it was told."""
    begun = root / BEGUN
    earlier = begun.read_text().split() if begun.exists() else []
    known = dict.fromkeys([*earlier, *(digest(text.encode()) for _, _, _, text in files)])
    write(root, [(BEGUN, 0o600, None, "\n".join(known) + "\n")])


def write(root, files):
    for path, mode, group, text in files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(target.name + ".new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        if group is not None and os.geteuid() == 0:
            shutil.chown(fresh, "root", group)
        fresh.chmod(mode)
        fresh.replace(target)
