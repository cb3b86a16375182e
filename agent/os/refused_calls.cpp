#include "agent/os/refused_calls.h"

#include <linux/sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace hai {

namespace {

constexpr RefusedCall kCalls[] = {
    // glibc then uses clone, whose flags can be looked at; those of clone3 are in memory.
    {"clone3", ENOSYS},
    // Mounts, roots, namespaces, quotas.
    {"chroot", EPERM},
    {"fsconfig", EPERM},
    {"fsmount", EPERM},
    {"fsopen", EPERM},
    {"fspick", EPERM},
    {"mount", EPERM},
    {"mount_setattr", EPERM},
    {"move_mount", EPERM},
    {"open_tree", EPERM},
    {"pivot_root", EPERM},
    {"quotactl", EPERM},
    {"quotactl_fd", EPERM},
    {"setns", EPERM},
    {"umount", EPERM},
    {"umount2", EPERM},
    // Files by number, past the permissions of their folders.
    {"name_to_handle_at", EPERM},
    {"open_by_handle_at", EPERM},
    // Keys: the kernel keeps them per user, not per job.
    {"add_key", EPERM},
    {"keyctl", EPERM},
    {"request_key", EPERM},
    // Programs in the kernel, and what looks into it.
    {"bpf", EPERM},
    {"fanotify_init", EPERM},
    {"kcmp", EPERM},
    {"lookup_dcookie", EPERM},
    {"perf_event_open", EPERM},
    {"syslog", EPERM},
    {"userfaultfd", EPERM},
    // A second way to make system calls, which no filter sees.
    {"io_uring_enter", EPERM},
    {"io_uring_register", EPERM},
    {"io_uring_setup", EPERM},
    // The machine: its kernel, modules, clock, name, ports, swap, accounting.
    {"acct", EPERM},
    {"clock_adjtime", EPERM},
    {"clock_settime", EPERM},
    {"create_module", EPERM},
    {"delete_module", EPERM},
    {"finit_module", EPERM},
    {"get_kernel_syms", EPERM},
    {"init_module", EPERM},
    {"ioperm", EPERM},
    {"iopl", EPERM},
    {"kexec_file_load", EPERM},
    {"kexec_load", EPERM},
    {"query_module", EPERM},
    {"reboot", EPERM},
    {"setdomainname", EPERM},
    {"sethostname", EPERM},
    {"settimeofday", EPERM},
    {"swapoff", EPERM},
    {"swapon", EPERM},
    {"vhangup", EPERM},
    // Long out of use.
    {"_sysctl", EPERM},
    {"nfsservctl", EPERM},
    {"sysfs", EPERM},
    {"uselib", EPERM},
    {"ustat", EPERM},
    {"vm86", EPERM},
    {"vm86old", EPERM},
};

constexpr RefusedArgument flag(const char* call, uint64_t bit) {
  return {.name = call, .argument = 0, .mask = bit, .value = bit, .error = EPERM};
}
constexpr RefusedArgument family(int number) {
  return {.name = "socket",
          .argument = 0,
          .mask = UINT32_MAX,
          .value = static_cast<uint64_t>(number),
          .error = EAFNOSUPPORT};
}

constexpr RefusedArgument kArguments[] = {
    // New namespaces: in one of users anybody is root, which opens much of the kernel to him.
    flag("clone", CLONE_NEWCGROUP),
    flag("clone", CLONE_NEWIPC),
    flag("clone", CLONE_NEWNET),
    flag("clone", CLONE_NEWNS),
    flag("clone", CLONE_NEWPID),
    flag("clone", CLONE_NEWUSER),
    flag("clone", CLONE_NEWUTS),
    flag("unshare", CLONE_NEWCGROUP),
    flag("unshare", CLONE_NEWIPC),
    flag("unshare", CLONE_NEWNET),
    flag("unshare", CLONE_NEWNS),
    flag("unshare", CLONE_NEWPID),
    flag("unshare", CLONE_NEWTIME),
    flag("unshare", CLONE_NEWUSER),
    flag("unshare", CLONE_NEWUTS),
    // Networks that no program of a cluster speaks, and the host of a virtual machine.
    family(AF_ALG),
    family(AF_APPLETALK),
    family(AF_AX25),
    family(AF_CAN),
    family(AF_IPX),
    family(AF_KEY),
    family(AF_PACKET),
    family(AF_RDS),
    family(AF_TIPC),
    family(AF_VSOCK),
    family(AF_X25),
    family(AF_XDP),
};

}  // namespace

std::span<const RefusedCall> refused_calls() { return kCalls; }
std::span<const RefusedArgument> refused_arguments() { return kArguments; }

bool is_refused_call(std::string_view name) {
  return std::ranges::any_of(kCalls, [&](const RefusedCall& call) { return call.name == name; });
}

}  // namespace hai
