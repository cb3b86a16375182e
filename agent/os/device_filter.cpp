#include "agent/os/device_filter.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "agent/os/files.h"

namespace hai {

namespace {

// Registers: r0 is the answer, r1 points to the question (bpf_cgroup_dev_ctx).
constexpr __u8 kAnswer = BPF_REG_0;
constexpr __u8 kQuestion = BPF_REG_1;
constexpr __u8 kKind = BPF_REG_2;
constexpr __u8 kAccess = BPF_REG_3;
constexpr __u8 kMajor = BPF_REG_4;
constexpr __u8 kMinor = BPF_REG_5;
constexpr __s32 kKindMask = 0xffff;
constexpr __s32 kAccessShift = 16;

bpf_insn load(__u8 into, size_t offset) {
  return {.code = BPF_LDX | BPF_MEM | BPF_W,
          .dst_reg = into,
          .src_reg = kQuestion,
          .off = static_cast<__s16>(offset),
          .imm = 0};
}

bpf_insn compute(__u8 operation, __u8 into, __s32 value) {
  return {.code = static_cast<__u8>(BPF_ALU64 | BPF_K | operation),
          .dst_reg = into,
          .src_reg = 0,
          .off = 0,
          .imm = value};
}

bpf_insn copy(__u8 into, __u8 from) {
  return {
      .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = into, .src_reg = from, .off = 0, .imm = 0};
}

bpf_insn jump(__u8 condition, __u8 of, __s32 value, size_t over) {
  return {.code = static_cast<__u8>(BPF_JMP | BPF_K | condition),
          .dst_reg = of,
          .src_reg = 0,
          .off = static_cast<__s16>(over),
          .imm = value};
}

bpf_insn leave() {
  return {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0};
}

void append_rule(const DeviceRule& rule, std::vector<bpf_insn>& out) {
  const bool any_minor = rule.minor == DeviceRule::kAnyMinor;
  const size_t left = any_minor ? 2 : 3;  // of this rule, after its second question
  out.push_back(
      jump(BPF_JNE, kKind, rule.kind == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR, left + 1));
  out.push_back(jump(BPF_JNE, kMajor, rule.major, left));
  if (!any_minor) out.push_back(jump(BPF_JNE, kMinor, rule.minor, 2));
  out.push_back(compute(BPF_MOV, kAnswer, 1));
  out.push_back(leave());
}

int bpf(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

}  // namespace

std::vector<bpf_insn> device_program(const std::vector<DeviceRule>& rules) {
  std::vector<bpf_insn> program = {
      load(kKind, offsetof(bpf_cgroup_dev_ctx, access_type)),
      copy(kAccess, kKind),
      compute(BPF_AND, kKind, kKindMask),
      compute(BPF_RSH, kAccess, kAccessShift),
      load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)),
      load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)),
      compute(BPF_MOV, kAnswer, 0),
      // Nobody makes a node, of whatever device.
      jump(BPF_JSET, kAccess, BPF_DEVCG_ACC_MKNOD, 1),
      jump(BPF_JA, 0, 0, 1),
      leave(),
  };
  for (const DeviceRule& rule : rules) append_rule(rule, program);
  program.push_back(compute(BPF_MOV, kAnswer, 0));
  program.push_back(leave());
  return program;
}

Status filter_devices(const std::string& cgroup, const std::vector<DeviceRule>& rules) {
  const UniqueFd directory(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return internal("cannot open {}: {}", cgroup, errno_text(errno));
  const std::vector<bpf_insn> program = device_program(rules);
  static constexpr char kLicense[] = "";  // It calls none of the kernel's functions.
  bpf_attr load_it{};
  load_it.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load_it.insns = reinterpret_cast<__u64>(program.data());
  load_it.insn_cnt = static_cast<__u32>(program.size());
  load_it.license = reinterpret_cast<__u64>(kLicense);
  const UniqueFd loaded(bpf(BPF_PROG_LOAD, load_it));
  if (!loaded.is_open()) return internal("cannot load a device program: {}", errno_text(errno));
  bpf_attr attach{};
  attach.target_fd = static_cast<__u32>(directory.get());
  attach.attach_bpf_fd = static_cast<__u32>(loaded.get());
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;  // What the groups above say holds, too.
  if (bpf(BPF_PROG_ATTACH, attach) != 0) {
    return internal("cannot attach a device program to {}: {}", cgroup, errno_text(errno));
  }
  return ok();
}

}  // namespace hai
