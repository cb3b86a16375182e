"""More rights than the submitter has."""

import ctypes
import os
import resource
import subprocess

from attempts import LIBC, Refused, attempt, call, checked

PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN = 47, 2, 21


@attempt("to be root")
def become_root(_):
    os.setresuid(0, 0, 0)
    return os.getuid()


@attempt("another group")
def become_group(_):
    os.setresgid(0, 0, 0)
    return os.getgid()


@attempt("more groups")
def join_groups(_):
    os.setgroups([0])
    return os.getgroups()


@attempt("all capabilities")
def capabilities(_):
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    wanted = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 3, *[0x1FF] * 3)
    return call(126, 91, header, wanted)


@attempt("a capability that programs inherit")
def ambient(_):
    return checked(LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0))


@attempt("a setuid program", needs="root")
def setuid_program(targets):
    done = subprocess.run(
        [targets["setuid_cat"], targets["secret"]], capture_output=True, text=True, timeout=60
    )
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    return done.stdout


@attempt("a secret that only root may read", needs="root")
def secret(targets):
    with open(targets["secret"], encoding="ascii") as file:
        return file.read()


@attempt("protection from the killer of processes")
def protected(_):
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("-1000")
    return "protected"


@attempt("a higher priority")
def priority(_):
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    return "raised"


@attempt("processor time before all others")
def real_time(_):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "set"


@attempt("more than the hard limit")
def hard_limit(_):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    except ValueError as why:
        raise Refused(why) from None
    return "raised"
