"""Processes of others, of the shim and of the agent."""

import ctypes
import errno
import os
import resource
import signal

from attempts import LIBC, Refused, attempt, call, checked, of_process, open_and_read

PTRACE_ATTACH, PTRACE_DETACH = 16, 17
SHIM = os.getppid()


def trace(pid):
    checked(LIBC.ptrace(PTRACE_ATTACH, pid, None, None))
    LIBC.ptrace(PTRACE_DETACH, pid, None, None)
    return "attached"


def memory_of(pid):
    buffer = ctypes.create_string_buffer(8)
    place = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
    try:
        return call(310, 270, pid, place, 1, place, 1, 0)
    except OSError as error:
        if error.errno == errno.EFAULT:
            return "there is nothing there, but it may look"
        raise


def steal_descriptor(pid):
    return call(438, 438, os.pidfd_open(pid), 3, 0)


for _name in ("agent", "shim", "other"):
    def _pid(targets, name=_name):
        return SHIM if name == "shim" else targets[name]

    needs = "root" if _name == "other" else None

    @attempt(f"ptrace of the {_name}", needs=needs)
    def attach(targets, pid=_pid):
        return of_process(trace, pid(targets))

    @attempt(f"a signal to the {_name}", needs="root")
    def signal_it(targets, pid=_pid):
        return of_process(os.kill, pid(targets), signal.SIGCONT) or "sent"

    @attempt(f"the environment of the {_name}", needs=needs)
    def environment(targets, pid=_pid):
        return of_process(open_and_read, f"/proc/{pid(targets)}/environ")

    @attempt(f"the memory of the {_name}, by /proc", needs=needs)
    def proc_memory(targets, pid=_pid):
        return of_process(lambda path: open(path, "rb").close() or "opened", f"/proc/{pid(targets)}/mem")

    @attempt(f"the memory of the {_name}, by a call", needs=needs)
    def memory(targets, pid=_pid):
        return of_process(memory_of, pid(targets))

    @attempt(f"the root folder of the {_name}", needs=needs)
    def root(targets, pid=_pid):
        return of_process(os.listdir, f"/proc/{pid(targets)}/root")

    @attempt(f"an open file of the {_name}", needs=needs)
    def descriptor(targets, pid=_pid):
        return of_process(steal_descriptor, pid(targets))

    @attempt(f"the limits of the {_name}", needs="root")
    def limits(targets, pid=_pid):
        return of_process(resource.prlimit, pid(targets), resource.RLIMIT_CORE, (0, 0))


@attempt("to see that another job runs", needs="mounts")
def see(targets):
    return of_process(open_and_read, f"/proc/{targets['other']}/cmdline")


@attempt("processes without end", needs="process limit")
def fork_bomb(targets):
    started = []
    try:
        for _ in range(targets["processes_max"] + 10):
            child = os.fork()
            if child == 0:
                signal.pause()
            started.append(child)
        return f"{len(started)} processes"
    except OSError:
        raise Refused(f"after {len(started)} processes") from None
    finally:
        for child in started:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
