"""System calls that reach into the kernel or out of the rank's namespaces."""

import ctypes
import os
import socket

from attempts import LIBC, attempt, call, checked, of_process

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
SIGCHLD = 17


def in_a_child(action):
    """What changes the process itself is tried in another."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            action()
            error = 0
        except OSError as why:
            error = why.errno
        os.write(write_end, str(error).encode())
        os._exit(0)
    os.close(write_end)
    error = int(os.read(read_end, 16))
    os.close(read_end)
    os.waitpid(child, 0)
    if error:
        raise OSError(error, os.strerror(error))
    return "worked"


@attempt("a user namespace, by unshare")
def unshare_user(_):
    return in_a_child(lambda: call(272, 97, CLONE_NEWUSER))


@attempt("a user namespace, by clone")
def clone_user(_):
    child = call(56, 220, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "worked"


@attempt("a user namespace, by clone3")
def clone3_user(_):
    arguments = (ctypes.c_uint64 * 8)(CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0)
    child = call(435, 435, arguments, ctypes.sizeof(arguments))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "worked"


@attempt("a mount namespace")
def unshare_mounts(_):
    return in_a_child(lambda: call(272, 97, CLONE_NEWNS))


@attempt("a network namespace")
def unshare_network(_):
    return in_a_child(lambda: call(272, 97, CLONE_NEWNET))


@attempt("the mount namespace of the machine")
def enter_mounts(targets):
    def enter():
        with open(f"/proc/{targets['agent']}/ns/mnt", "rb") as namespace:
            call(308, 268, namespace.fileno(), CLONE_NEWNS)

    return of_process(in_a_child, enter)


@attempt("another root folder")
def change_root(_):
    return in_a_child(lambda: os.chroot("/tmp"))


@attempt("a mount")
def mount(_):
    return checked(LIBC.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None))


@attempt("a bind mount")
def bind(_):
    return checked(LIBC.mount(b"/etc", b"/tmp", None, 4096, None))


@attempt("a mount away")
def unmount(_):
    return checked(LIBC.umount2(b"/proc", 2))


@attempt("a file system by the newer calls")
def open_file_system(_):
    return call(430, 430, b"tmpfs", 0)


@attempt("a clone of a mount")
def clone_mount(_):
    return call(428, 428, -100, b"/", 1)


@attempt("another root mount")
def pivot(_):
    return call(155, 41, b"/tmp", b"/tmp")


@attempt("a file by its handle")
def by_handle(_):
    handle = (ctypes.c_uint32 * 6)(16, 0, 0, 0, 0, 0)
    return call(304, 265, -100, handle, 0)


@attempt("the keys of the session")
def keys(_):
    return call(250, 219, 0, -3, 1)


@attempt("a key in the kernel")
def add_key(_):
    return call(248, 217, b"user", b"hostile", b"x", 1, -3)


@attempt("a program in the kernel")
def bpf(_):
    attributes = (ctypes.c_uint32 * 18)(2, 4, 4, 1)  # a map, which is less
    return call(321, 280, 0, attributes, ctypes.sizeof(attributes))


@attempt("performance counters")
def counters(_):
    attributes = (ctypes.c_uint64 * 16)()
    attributes[0] = 1 | 128 << 32  # a software event, of this size
    attributes[5] = 1 | 1 << 5 | 1 << 6  # disabled, without kernel and hypervisor
    return call(298, 241, attributes, 0, -1, -1, 0)


@attempt("faults handled by a program")
def user_faults(_):
    return call(323, 282, 1)  # of user space only, which anybody may else


@attempt("a ring of system calls")
def io_uring(_):
    return call(425, 425, 1, (ctypes.c_uint32 * 30)())


@attempt("a look at another's descriptors")
def compare(_):
    return call(312, 272, os.getpid(), os.getpid(), 0, 0, 1)


@attempt("another kernel")
def kexec(_):
    return call(246, 104, 0, 0, None, 0)


@attempt("a module of the kernel")
def module(_):
    return call(175, 105, b"", 0, b"")


@attempt("the kernel's log")
def kernel_log(_):
    return call(103, 116, 3, ctypes.create_string_buffer(64), 64)


@attempt("a restart of the machine")
def reboot(_):
    return call(169, 142, 0, 0, 0, None)  # without its magic numbers nothing is restarted


@attempt("the machine's name")
def name(_):
    same = socket.gethostname().encode()
    return call(170, 161, same, len(same))


@attempt("the machine's clock")
def clock(_):
    return call(164, 170, None, None)


@attempt("swap")
def swap(_):
    return call(167, 224, b"/nowhere", 0)


@attempt("the ports of the machine")
def ports(_):
    return call(172, None, 3)


@attempt("accounting")
def accounting(_):
    return call(163, 89, b"/nowhere")


@attempt("a call of the future")
def future(_):
    return call(900, 900)


def of_family(family, kind=socket.SOCK_RAW):
    socket.socket(family, kind).close()
    return "a socket"


@attempt("a raw socket")
def raw(_):
    return of_family(socket.AF_INET)


@attempt("a packet socket")
def packet(_):
    return of_family(socket.AF_PACKET)


@attempt("a socket of the kernel's ciphers")
def ciphers(_):
    return of_family(38, socket.SOCK_SEQPACKET)


@attempt("a socket to the host of this machine")
def host(_):
    return of_family(40, socket.SOCK_STREAM)
