#include "agent/shim/call_filter.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "agent/os/files.h"
#include "agent/os/refused_calls.h"

namespace hai {

namespace {

struct Release {
  void operator()(void* context) const { ::seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

constexpr uint32_t kFirstOfX32 = 0x4000'0000;  // libseccomp's rules judge those

Status add_rules(void* context, const std::vector<std::string>& allowed) {
  const auto is_allowed = [&allowed](const char* name) {
    return std::ranges::find(allowed, name) != allowed.end();
  };
  for (const RefusedCall& call : refused_calls()) {
    if (is_allowed(call.name)) continue;
    const int number = ::seccomp_syscall_resolve_name(call.name);
    if (number == __NR_SCMP_ERROR) return internal("libseccomp knows no system call {}", call.name);
    if (number < 0) continue;  // of other machines
    const int error =
        ::seccomp_rule_add(context, SCMP_ACT_ERRNO(static_cast<uint32_t>(call.error)), number, 0);
    if (error < 0) return internal("cannot refuse {}: {}", call.name, errno_text(-error));
  }
  for (const RefusedArgument& call : refused_arguments()) {
    const scmp_arg_cmp compared = {call.argument, SCMP_CMP_MASKED_EQ, call.mask, call.value};
    const int error =
        ::seccomp_rule_add_array(context, SCMP_ACT_ERRNO(static_cast<uint32_t>(call.error)),
                                 ::seccomp_syscall_resolve_name(call.name), 1, &compared);
    if (error < 0) return internal("cannot refuse {}: {}", call.name, errno_text(-error));
  }
  return ok();
}

// libseccomp has no word for "and all that came later": said before its rules.
std::vector<sock_filter> refusal_of_newer_calls() {
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstOfX32, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kNewestKnownCall, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
}

Status append_exported(void* context, std::vector<sock_filter>& program) {
  const UniqueFd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file.is_open()) return internal("cannot make a memory file: {}", errno_text(errno));
  if (const int error = ::seccomp_export_bpf(context, file.get()); error < 0) {
    return internal("cannot make the filter of system calls: {}", errno_text(-error));
  }
  const off_t bytes = ::lseek(file.get(), 0, SEEK_END);
  const size_t start = program.size();
  program.resize(start + static_cast<size_t>(bytes) / sizeof(sock_filter));
  if (bytes <= 0 || ::pread(file.get(), &program[start], static_cast<size_t>(bytes), 0) != bytes) {
    return internal("cannot read the filter of system calls: {}", errno_text(errno));
  }
  return ok();
}

}  // namespace

Result<CallFilter> CallFilter::make(const std::vector<std::string>& allowed) {
  const Context context(::seccomp_init(SCMP_ACT_ALLOW));
  if (!context) return internal("cannot make a filter of system calls");
  // Programs for another kind of machine, such as 32 bits, would come with calls of their own.
  ::seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
  ::seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree, not a list
  RETURN_IF_ERROR(add_rules(context.get(), allowed));
  CallFilter filter;
  filter.program_ = refusal_of_newer_calls();
  RETURN_IF_ERROR(append_exported(context.get(), filter.program_));
  return filter;
}

bool CallFilter::apply() const {
  const sock_fprog program = {.len = static_cast<unsigned short>(program_.size()),
                              .filter = const_cast<sock_filter*>(program_.data())};
  // Else kernels before 5.16 slow a filtered program down to protect it from itself.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   &program) == 0;
}

}  // namespace hai
