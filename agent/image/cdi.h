#pragma once
// The Container Device Interface: files in which a node's administrator, or a vendor's tool, says
// what a program in a container needs of the node beside a device's nodes. Here they are read and
// what they say of a rank's devices is chosen; nothing is looked up on the machine.
//
// Hooks are programs that would run as root in an image that strangers made: none is run. What
// NVIDIA's say that matters is understood from their arguments; others are told of and skipped.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/environment.h"
#include "agent/os/image_file.h"
#include "common/image.h"
#include "common/status.h"

namespace hai {

// "containerEdits", of a device or of a file.
struct CdiEdits {
  Environment environment;
  std::vector<ImageMount> mounts;
  std::vector<ImageLink> links;              // of hooks create-symlinks
  std::vector<std::string> library_folders;  // of hooks update-ldcache
  std::vector<std::string> device_nodes;     // that should be on the node
  std::vector<std::string> skipped;          // "hook chmod"
  bool operator==(const CdiEdits&) const = default;
};

struct CdiSpec {
  std::string file;
  std::string kind;  // "nvidia.com/gpu"
  CdiEdits edits;    // with the first of its devices
  std::map<std::string, CdiEdits> devices;
  bool operator==(const CdiSpec&) const = default;
};

// The text of `file`, YAML or JSON. Of another kind than `kind` only the kind is read: what is
// wrong with it is none of a rank's business. All errors are the node's: failed_precondition.
Result<CdiSpec> parse_cdi(const std::string& file, std::string_view text, std::string_view kind);

// What the files say of the devices `names`; nothing if none of them is of the kind. `folders`: the
// files of each; of a device that two folders have it is the later one that counts. An error if one
// of the devices is in none of the files, or in two of a folder.
Result<CdiEdits> choose_cdi(const std::vector<std::vector<CdiSpec>>& folders, std::string_view kind,
                            const std::vector<std::string>& names);

}  // namespace hai
