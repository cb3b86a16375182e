#pragma once
// How a job names its container image, and the node's folders that it sees in it. Names are those
// of skopeo(1); a name without a kind is one of a registry.

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

struct ImageName {
  enum class Kind { registry, layout, oci_archive, docker_archive, root_folder };
  Kind kind = Kind::registry;
  std::string name;    // HOST/REPOSITORY[:TAG], or a path with, of some kinds, :REFERENCE behind it
  std::string digest;  // "sha256:" and 64 digits; of a registry only, "" = not pinned
  bool operator==(const ImageName&) const = default;
};

// docker://NAME[:TAG][@sha256:DIGEST], oci:PATH[:REFERENCE], oci-archive:PATH, docker-archive:PATH,
// rootfs:PATH. Paths are absolute.
Result<ImageName> parse_image(std::string_view text);
// As a job shows it; parse_image reads it back.
std::string to_string(const ImageName& image);
// As skopeo wants it, which takes no tag beside a digest. Not of a root_folder.
std::string skopeo_name(const ImageName& image);
// Of the registry: "docker.io" if the name has none.
std::string registry_of(const ImageName& image);

// "sha256:" and 64 lower-case hexadecimal digits.
bool is_image_digest(std::string_view text);

// A folder or file of the node, in the image.
struct ImageMount {
  std::string from;
  std::string to;
  bool is_read_only = false;
  bool operator==(const ImageMount&) const = default;
};

// "FROM[:TO][:ro]"; TO is FROM if it is not given. Neither may be or lie in /proc, /sys, /dev,
// /tmp or /run, which ranks have of their own, nor be "/".
Result<ImageMount> parse_mount(std::string_view text);
// Whether a job may mount it, as far as its path says.
bool may_be_mounted(std::string_view path);

}  // namespace hai
