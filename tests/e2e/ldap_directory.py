"""A real slapd on the loopback, and nslcd through which this machine's name service asks it. In a
mount namespace of the test's own: the machine's /etc and /run stay as they are."""

import ctypes
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess

from cluster import eventually
from servers import free_port

SLAPD = "/usr/sbin/slapd"
NSLCD = "/usr/sbin/nslcd"
NSS_MODULE = "libnss_ldap.so.2"
BASE = "dc=example,dc=org"
ADMIN = ["-x", "-D", f"cn=admin,{BASE}", "-w", "secret"]
CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000

SLAPD_CONFIG = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/pid
argsfile {folder}/args
database mdb
suffix "{base}"
rootdn "cn=admin,{base}"
rootpw secret
directory {folder}/db
"""
NSLCD_CONFIG = """\
uid nslcd
gid nslcd
uri ldap://127.0.0.1:{port}/
base {base}
bind_timelimit 2
timelimit 5
reconnect_sleeptime 1
reconnect_retrytime 1
"""
ROOT_ENTRY = f"dn: {BASE}\nobjectClass: domain\ndc: example\n"


def missing():
    """What this machine lacks to run one; "" if nothing."""
    if os.geteuid() != 0:
        return "only root may say where the machine's accounts are"
    for program in (SLAPD, NSLCD, shutil.which("ldapmodify") or "ldapmodify"):
        if not pathlib.Path(program).exists():
            return f"no {program}: slapd, nslcd or ldap-utils is not installed"
    try:
        ctypes.CDLL(NSS_MODULE)
    except OSError:
        return f"no {NSS_MODULE}: libnss-ldapd is not installed"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        return "no mount namespaces here"
    return ""


def call(function, *words):
    if function(*words) != 0:
        raise OSError(ctypes.get_errno(), f"{function.__name__}{words}")


class Directory:
    """Its accounts and groups are the machine's for this process and all that it starts from now on."""

    def __init__(self, folder, local_accounts=()):
        """`local_accounts`: (name, uid) of people whom /etc/passwd has, too, there."""
        self.folder, self.port = pathlib.Path(folder), free_port()
        for part in (self.folder, self.folder / "db"):
            part.mkdir()
            part.chmod(0o755)
        self.slapd = self.nslcd = None
        self.write("slapd.conf", SLAPD_CONFIG.format(folder=self.folder, base=BASE))
        self.write("nslcd.conf", NSLCD_CONFIG.format(port=self.port, base=BASE))
        switch = pathlib.Path("/etc/nsswitch.conf").read_text()
        switch = re.sub(r"(?m)^(passwd|group):.*$", r"\1: files ldap", switch)
        self.write("nsswitch.conf", switch)
        people = "".join(f"{name}:x:{uid}:{uid}::/:/bin/sh\n" for name, uid in local_accounts)
        self.write("passwd", pathlib.Path("/etc/passwd").read_text() + people)
        self.change("slapadd", ROOT_ENTRY)
        self.enter_namespace()

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o644)

    def enter_namespace(self):
        libc = ctypes.CDLL(None, use_errno=True)
        call(libc.unshare, CLONE_NEWNS)
        call(libc.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        for name in ("nsswitch.conf", "nslcd.conf", "passwd"):
            source = str(self.folder / name).encode()
            call(libc.mount, source, f"/etc/{name}".encode(), None, MS_BIND, None)
        call(libc.mount, b"tmpfs", b"/run", b"tmpfs", 0, b"mode=755")
        pathlib.Path("/run/nslcd").mkdir(mode=0o755)
        shutil.chown("/run/nslcd", "nslcd")

    def change(self, program, text):
        """By an LDIF: `slapadd` while slapd does not run, else `ldapadd` or `ldapmodify`."""
        if program == "slapadd":
            words = ["/usr/sbin/slapadd", "-f", str(self.folder / "slapd.conf")]
        else:
            words = [program, "-H", f"ldap://127.0.0.1:{self.port}/", *ADMIN]
        done = subprocess.run(
            words, input=text, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}")

    def start(self):
        self.start_slapd()
        with (self.folder / "nslcd.log").open("ab") as log:
            self.nslcd = subprocess.Popen([NSLCD, "--nofork"], stdout=log, stderr=log)
        eventually("nslcd listens", pathlib.Path("/run/nslcd/socket").exists)

    def start_slapd(self):
        words = [SLAPD, "-h", f"ldap://127.0.0.1:{self.port}", "-d", "0"]
        with (self.folder / "slapd.log").open("ab") as log:
            self.slapd = subprocess.Popen(
                [*words, "-f", str(self.folder / "slapd.conf")], stdout=log, stderr=log
            )
        search = ["ldapsearch", "-x", "-H", f"ldap://127.0.0.1:{self.port}/", "-b", BASE, "dn"]
        eventually("slapd answers", lambda: subprocess.run(
            search, capture_output=True, timeout=60, check=False).returncode == 0)

    def stop_slapd(self):
        self.slapd.send_signal(signal.SIGINT)
        self.slapd.wait(timeout=30)

    def add_user(self, name, uid, gid):
        self.change("ldapadd", f"""\
dn: uid={name},{BASE}
objectClass: account
objectClass: posixAccount
uid: {name}
cn: {name}
uidNumber: {uid}
gidNumber: {gid}
homeDirectory: /
loginShell: /bin/sh
""")
        eventually(f"the machine knows {name}", lambda: name in (e.pw_name for e in self.looked_up(name)))

    def remove_user(self, name):
        self.change("ldapdelete", f"uid={name},{BASE}\n")

    @staticmethod
    def looked_up(name):
        try:
            return [pwd.getpwnam(name)]
        except KeyError:
            return []

    def add_group(self, name, gid, members=()):
        lines = "".join(f"memberUid: {member}\n" for member in members)
        self.change("ldapadd", f"""\
dn: cn={name},{BASE}
objectClass: posixGroup
cn: {name}
gidNumber: {gid}
{lines}""")

    def set_member(self, group, user, is_member):
        self.change("ldapmodify", f"""\
dn: cn={group},{BASE}
changetype: modify
{"add" if is_member else "delete"}: memberUid
memberUid: {user}
""")

    def close(self):
        for process in (self.nslcd, self.slapd):
            if process and process.poll() is None:
                process.terminate()
                process.wait(timeout=30)
