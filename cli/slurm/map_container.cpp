#include "cli/slurm/map_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/image.h"

namespace hai::cli::slurm {
namespace {

// Flags of a mount that change nothing here: its place is always made, and no mount of a job has
// devices, programs with their owner's rights, or an effect outside.
constexpr auto kMountFlags = std::to_array<std::string_view>(
    {"rw", "bind", "rbind", "private", "rprivate", "slave", "rslave", "nosuid", "nodev",
     "x-create=auto", "x-create=dir", "x-create=file"});

std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

// "ro+rprivate": whether it is read-only.
Result<bool> parse_mount_flags(std::string_view text) {
  bool is_read_only = false;
  for (const std::string_view flag : pieces_of(text, '+')) {
    if (flag == "ro") {
      is_read_only = true;
    } else if (std::ranges::find(kMountFlags, flag) == kMountFlags.end()) {
      return invalid_argument("'{}' is no flag of a mount that hai knows: ro or rw",
                              flag.substr(0, 64));
    }
  }
  return is_read_only;
}

// "FROM[:TO[:FLAGS]]" as hai has it.
Result<std::string> parse_container_mount(std::string_view text, const std::string& here) {
  const std::vector<std::string_view> parts = pieces_of(text, ':');
  if (parts.size() > 3) {
    return invalid_argument("'{}' must be FROM[:TO[:FLAGS]]", text.substr(0, 128));
  }
  std::string from(parts[0]);
  if (from.starts_with("./") || from.starts_with("../") || from == "." || from == "..") {
    from = (std::filesystem::path(here) / from).lexically_normal().string();
    if (from.size() > 1 && from.ends_with('/')) from.pop_back();
  }
  std::string mount = from;
  if (parts.size() > 1) mount += fmt::format(":{}", parts[1]);
  if (parts.size() > 2) {
    const Result<bool> is_read_only = parse_mount_flags(parts[2]);
    RETURN_IF_ERROR(is_read_only.status());
    if (is_read_only.value()) mount += ":ro";
  }
  RETURN_IF_ERROR(parse_mount(mount).status());
  return mount;
}

Status add_mounts(const GivenOption& given, const std::string& here,
                  std::vector<std::string>& mounts) {
  for (const std::string_view text : pieces_of(given.value, ',')) {
    Result<std::string> mount = parse_container_mount(text, here);
    if (!mount.is_ok()) return option_error(given, mount.status().message());
    if (std::ranges::find(mounts, mount.value()) == mounts.end())
      mounts.push_back(std::move(mount).value());
  }
  return ok();
}

// "[USER@][REGISTRY#]NAME[:TAG][@DIGEST]" of enroot as REGISTRY/NAME: to hai a host is what looks
// like one.
Result<std::string> plain_registry_name(const std::string& name) {
  const size_t hash = name.find('#');
  const size_t at = name.find('@');
  if (at < hash && !std::string_view(name).substr(at + 1).starts_with("sha256:")) {
    return invalid_argument(
        "{}@: registries are entered with the site's credentials: leave the user out",
        name.substr(0, std::min<size_t>(at, 64)));
  }
  if (hash == std::string::npos) return name;
  const std::string registry = name.substr(0, hash);
  if (registry != "localhost" && registry.find_first_of(".:") == std::string::npos) {
    return invalid_argument("'{}' before the # must be a registry's whole name, e.g. nvcr.io",
                            registry.substr(0, 64));
  }
  return fmt::format("{}/{}", registry, name.substr(hash + 1));
}

}  // namespace

Result<std::string> parse_container_image(std::string_view text) {
  if (text.empty()) return invalid_argument("the image is missing");
  if (text.starts_with('/') || text.starts_with("./") || text.starts_with("../")) {
    return invalid_argument(
        "nodes read no squashfs files: name an oci-archive:PATH, a docker-archive:PATH, or an "
        "unpacked rootfs:PATH");
  }
  for (const std::string_view daemon : {"dockerd://", "podman://"}) {
    if (text.starts_with(daemon))
      return invalid_argument("{}: nodes have no such images: name one of a registry", daemon);
  }
  constexpr std::string_view kDocker = "docker://";
  std::string name(text.starts_with(kDocker) ? text.substr(kDocker.size()) : text);
  Result<std::string> plain = name.find(":/") == std::string::npos
                                  ? plain_registry_name(name)
                                  : Result<std::string>(name);  // oci:/PATH and its kin
  RETURN_IF_ERROR(plain.status());
  const Result<ImageName> image = parse_image(plain.value());
  RETURN_IF_ERROR(image.status());
  return to_string(image.value());
}

Result<Container> container_of(const ParsedWords& words, const std::string& here) {
  Container container;
  if (const GivenOption* given = words.find("container-image")) {
    Result<std::string> image = parse_container_image(given->value);
    if (!image.is_ok()) return option_error(*given, image.status().message());
    container.image = std::move(image).value();
  }
  for (const GivenOption& given : words.options) {
    if (given.option->name != "container-mounts") continue;
    RETURN_IF_ERROR(add_mounts(given, here, container.mounts));
  }
  if (const GivenOption* given = words.find("container-workdir")) {
    if (!given->value.starts_with('/')) {
      return option_error(*given, "must be an absolute path in the image");
    }
    container.directory = given->value;
  }
  return container;
}

std::vector<std::string> begun_in(const std::string& directory, std::vector<std::string> command) {
  if (directory.empty()) return command;
  std::vector<std::string> words = {"/bin/sh", "-c", R"(cd -- "$0" && exec "$@")", directory};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Status check_container_of_step(const ParsedWords& words, const Container& step,
                               const Container& job) {
  const GivenOption* image = words.find("container-image");
  if (image != nullptr && step.image != job.image) {
    const std::string other =
        job.image.empty() ? "this job runs in no image" : "this job runs in " + job.image;
    return option_error(*image, other +
                                    ", and so do its steps: name the image for the job, with "
                                    "sbatch or in a line #SBATCH --container-image=IMAGE");
  }
  if (const GivenOption* given = words.find("container-mounts")) {
    for (const std::string& mount : step.mounts) {
      if (std::ranges::find(job.mounts, mount) != job.mounts.end()) continue;
      return option_error(*given, mount +
                                      " is not mounted in this job: name it for the job, in a line "
                                      "#SBATCH --container-mounts=...");
    }
  }
  return ok();
}

}  // namespace hai::cli::slurm
