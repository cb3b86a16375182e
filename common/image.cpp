#include "common/image.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace hai {
namespace {

using ImageKind = ImageName::Kind;

struct Prefix {
  std::string_view text;
  ImageKind kind;
};
constexpr auto kPrefixes = std::to_array<Prefix>({{"docker://", ImageKind::registry},
                                                  {"oci:", ImageKind::layout},
                                                  {"oci-archive:", ImageKind::oci_archive},
                                                  {"docker-archive:", ImageKind::docker_archive},
                                                  {"rootfs:", ImageKind::root_folder}});
// Kinds that skopeo has, and nodes do not.
constexpr auto kElsewhere = std::to_array<std::string_view>(
    {"containers-storage", "dir", "docker-daemon", "ostree", "sif", "tarball"});
constexpr std::string_view kWays =
    "NAME[:TAG] or docker://NAME of a registry, oci:PATH, oci-archive:PATH, docker-archive:PATH or "
    "rootfs:PATH";

constexpr std::string_view kDigestKind = "sha256:";
constexpr size_t kDigestDigits = 64;
constexpr auto kOwnOfRanks =
    std::to_array<std::string_view>({"/proc", "/sys", "/dev", "/tmp", "/run"});

const Prefix& prefix_of(ImageKind kind) {
  return *std::find_if(kPrefixes.begin(), kPrefixes.end(),
                       [kind](const Prefix& prefix) { return prefix.kind == kind; });
}

bool may_be_in_image_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == ':' || c == '/';
}

// What goes to another program as a word: nothing in it may be read as anything else.
bool is_path_character(char c) { return c > ' ' && c != 0x7f && c != ','; }

Result<ImageName> parse_registry_name(std::string_view text) {
  ImageName image;
  const size_t at = text.find('@');
  image.name = text.substr(0, at);
  if (at != std::string_view::npos) {
    image.digest = text.substr(at + 1);
    if (!is_image_digest(image.digest)) {
      return invalid_argument("the digest must be sha256: and 64 hexadecimal digits, is {}",
                              image.digest);
    }
  }
  const std::string& name = image.name;
  const bool is_sound = !name.empty() &&
                        std::all_of(name.begin(), name.end(), may_be_in_image_name) &&
                        name.front() != '-' && name.front() != '/' && name.front() != ':' &&
                        name.back() != '/' && name.back() != ':';
  if (!is_sound) return invalid_argument("must be {}, is {}", kWays, text);
  return image;
}

Result<ImageName> parse_path_name(ImageKind kind, std::string_view text) {
  const std::string_view prefix = prefix_of(kind).text;
  if (!text.starts_with('/')) {
    return invalid_argument("{} wants an absolute path of the node behind it, is {}{}", prefix,
                            prefix, text);
  }
  if (!std::all_of(text.begin(), text.end(), is_path_character)) {
    return invalid_argument("must not hold blanks, commas or control characters");
  }
  return ImageName{.kind = kind, .name = std::string(text), .digest = {}};
}

// The last colon that is behind the last slash: before it are names, behind it a tag.
size_t tag_at(const std::string& name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool is_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return is_tag ? colon : std::string::npos;
}

bool is_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::optional<Status> fault_of(std::string_view path) {
  if (!path.starts_with('/')) {
    return invalid_argument("must be FROM[:TO][:ro] with absolute paths, has {}", path);
  }
  if (!std::all_of(path.begin(), path.end(), is_path_character)) {
    return invalid_argument("must not hold blanks, commas or control characters");
  }
  const std::string inner = std::string(path) + "/";
  if (inner.find("/../") != std::string::npos || inner.find("/./") != std::string::npos ||
      inner.find("//") != std::string::npos) {
    return invalid_argument("must be a path without .., . and //, has {}", path);
  }
  if (!may_be_mounted(path)) {
    return invalid_argument("{} cannot be mounted: ranks have their own", path);
  }
  return std::nullopt;
}

}  // namespace

Result<ImageName> parse_image(std::string_view text) {
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    text.remove_prefix(prefix.text.size());
    return prefix.kind == ImageKind::registry ? parse_registry_name(text)
                                              : parse_path_name(prefix.kind, text);
  }
  for (const std::string_view kind : kElsewhere) {
    if (text.starts_with(kind) && text.substr(kind.size()).starts_with(':')) {
      return invalid_argument("nodes read no images of the kind {}; it must be {}", kind, kWays);
    }
  }
  return parse_registry_name(text);
}

std::string to_string(const ImageName& image) {
  std::string text = std::string(prefix_of(image.kind).text) + image.name;
  if (!image.digest.empty()) text += "@" + image.digest;
  return text;
}

std::string skopeo_name(const ImageName& image) {
  if (image.digest.empty()) return to_string(image);
  ImageName untagged = image;
  untagged.name = image.name.substr(0, tag_at(image.name));
  return to_string(untagged);
}

// As skopeo decides it: what is before the first slash is a host if it looks like one.
std::string registry_of(const ImageName& image) {
  const size_t slash = image.name.find('/');
  if (slash == std::string::npos) return "docker.io";
  const std::string first = image.name.substr(0, slash);
  const bool is_host = first.find_first_of(".:") != std::string::npos || first == "localhost";
  return is_host ? first : "docker.io";
}

bool is_image_digest(std::string_view text) {
  if (!text.starts_with(kDigestKind)) return false;
  text.remove_prefix(kDigestKind.size());
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<ImageMount> parse_mount(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t colon = text.find(':', begin);
    parts.emplace_back(text.substr(begin, colon - begin));
    if (colon == std::string_view::npos) break;
    begin = colon + 1;
  }
  ImageMount mount;
  if (parts.size() > 1 && (parts.back() == "ro" || parts.back() == "rw")) {
    mount.is_read_only = parts.back() == "ro";
    parts.pop_back();
  }
  if (parts.size() > 2) return invalid_argument("must be FROM[:TO][:ro], is {}", text);
  mount.from = parts.front();
  mount.to = parts.back();
  for (const std::string& path : parts) {
    if (const std::optional<Status> fault = fault_of(path)) return *fault;
  }
  return mount;
}

bool may_be_mounted(std::string_view path) {
  return path != "/" && std::none_of(kOwnOfRanks.begin(), kOwnOfRanks.end(),
                                     [path](std::string_view own) { return is_in(path, own); });
}

}  // namespace hai
