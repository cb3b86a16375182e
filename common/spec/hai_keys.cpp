#include "common/spec/hai_keys.h"

#include <array>

namespace hai {
namespace {

constexpr auto kUnsupported = std::to_array<HaiKey>({
    {"spec.git_remote_repo", "`hai run` checks it out; elsewhere it has to be in spec.workspace"},
    {"spec.git_target_revision",
     "`hai run` checks it out; elsewhere it has to be in spec.workspace"},
    {"options.mount_code", "a job sees the node's own file system"},
    {"options.profile", "start the profiler from the entrypoint"},
    {"options.shared_in_group",
     "whose jobs people see is the cluster's `visibility`; logs are read by the owner and "
     "operators"},
    {"options.record_git_revision", "put the revision into options.tags"},
    {"options.sidecar", "start what you need from the entrypoint"},
    {"options.fffs_enable_fuse", "a job sees the node's own file system"},
});

}  // namespace

std::span<const HaiKey> unsupported_hai_keys() { return kUnsupported; }

}  // namespace hai
