"""What the attempts to break out have in common."""

import ctypes
import os
import platform

LIBC = ctypes.CDLL(None, use_errno=True)
ON_X86 = platform.machine() == "x86_64"
ATTEMPTS = []


class Absent(Exception):
    """There is nothing here to try it on."""


class Refused(Exception):
    """Refused, though not by an error of the system."""


def attempt(name, needs=None):
    """Of a function of the targets that breaks out: it gives what it got, or raises why not.
    needs: what an agent cannot keep its ranks from this without."""

    def keep(function):
        ATTEMPTS.append((name, function, needs))
        return function

    return keep


def checked(result):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def call(x86, other, *arguments):
    """A system call by its numbers, on x86-64 and on the newer machines."""
    number = x86 if ON_X86 else other
    if number is None:
        raise Absent("this kind of machine has no such call")
    whole = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return checked(LIBC.syscall(ctypes.c_long(number), *whole))


def open_and_read(path, size=16):
    with open(path, "rb", buffering=0) as file:
        return file.read(size)


def of_process(function, *arguments):
    """What lies below /proc/PID: not to find it is to be refused."""
    try:
        return function(*arguments)
    except (FileNotFoundError, ProcessLookupError):
        raise Refused("not to be seen") from None
