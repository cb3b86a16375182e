#include "common/spec/hai_keys.h"

#include <array>

namespace hai {
namespace {

constexpr auto kUnsupported = std::to_array<HaiKey>({
    {"spec.git_remote_repo",
     "`hai run` checks it out; over REST check it out where nodes see it, and name that folder in "
     "spec.workspace"},
    {"spec.git_target_revision",
     "`hai run` checks it out; over REST check it out where nodes see it, and name that folder in "
     "spec.workspace"},
    {"options.mount_code",
     "0 and HAI's default, 2, are left out: a job sees the node's own file system, and one in an "
     "image names folders in resource.mounts"},
    {"options.profile", "start the profiler from the entrypoint"},
    {"options.record_git_revision", "put the revision into options.tags"},
    {"options.sidecar", "start what you need from the entrypoint"},
    {"options.fffs_enable_fuse", "a job sees the node's own file system"},
});

}  // namespace

std::span<const HaiKey> unsupported_hai_keys() { return kUnsupported; }

}  // namespace hai
