#include "agent/image/rank_devices.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "agent/image/cdi.h"
#include "agent/image/elf_soname.h"
#include "agent/os/files.h"

namespace hai {

namespace {

namespace fs = std::filesystem;

constexpr size_t kCdiFilesMax = 64;
constexpr size_t kCdiBytesMax = 1 << 20;
// Found by LD_LIBRARY_PATH, and with nothing else in it: a folder of the image there would come
// before where a program's own libraries are.
constexpr const char* kLibraryFolder = "/usr/lib/hai-driver";

// Whoever can write it decides what root mounts in ranks.
Status check_owner(const std::string& path, const char* what) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return failed_precondition("this node's CDI {} {}: {}", what, path, errno_text(errno));
  const bool is_ours = info.st_uid == 0 || info.st_uid == ::geteuid();
  const bool is_open =
      (info.st_mode & S_IWOTH) != 0 || ((info.st_mode & S_IWGRP) != 0 && info.st_gid != 0);
  if (is_ours && !is_open) return ok();
  return failed_precondition("this node's CDI {} {} can be written by others than root", what,
                             path);
}

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return files;
  for (const fs::directory_iterator end; !error && entries != end; entries.increment(error)) {
    const fs::path extension = entries->path().extension();
    if (extension == ".json" || extension == ".yaml") files.push_back(entries->path().string());
  }
  if (error) return failed_precondition("this node's CDI folder {}: {}", folder, error.message());
  if (files.size() > kCdiFilesMax)
    return failed_precondition("this node's CDI folder {} has more than {} files", folder,
                               kCdiFilesMax);
  if (!files.empty()) RETURN_IF_ERROR(check_owner(folder, "folder"));
  std::ranges::sort(files);
  return files;
}

Result<std::vector<CdiSpec>> specs_in(const std::string& folder, std::string_view kind) {
  const Result<std::vector<std::string>> files = files_in(folder);
  RETURN_IF_ERROR(files.status());
  std::vector<CdiSpec> specs;
  for (const std::string& file : files.value()) {
    RETURN_IF_ERROR(check_owner(file, "file"));
    const Result<std::string> text = read_file(file, kCdiBytesMax);
    if (!text.is_ok())
      return failed_precondition("this node's CDI file {}", text.status().message());
    Result<CdiSpec> spec = parse_cdi(file, text.value(), kind);
    RETURN_IF_ERROR(spec.status());
    specs.push_back(std::move(spec).value());
  }
  return specs;
}

// Of a file of the node's administrator.
std::string soname_of_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_size == 0)
    return "";
  const auto size = static_cast<size_t>(info.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) return "";
  std::string name = soname_of({static_cast<const char*>(bytes), size});
  ::munmap(bytes, size);
  return name;
}

// What ldconfig would do: each library is found by its own name, beside it, and where the image's
// programs do not look there, in a folder of links to those of the driver.
void add_libraries(const CdiEdits& edits, ImageDevices& out) {
  for (const ImageMount& mount : edits.mounts) {
    const fs::path to = mount.to;
    const std::string folder = to.parent_path().string();
    if (std::ranges::find(edits.library_folders, folder) == edits.library_folders.end()) continue;
    const std::string name = soname_of_file(mount.from);
    if (name.empty()) continue;
    if (name != to.filename().string())
      out.links.push_back({.path = folder + "/" + name, .target = to.filename().string()});
    out.links.push_back({.path = kLibraryFolder + ("/" + name), .target = mount.to});
    out.library_folder = kLibraryFolder;
  }
}

std::vector<std::string> names_of(const GpuSet& gpus) {
  std::vector<std::string> names;
  for (int gpu = 0; gpu < GpuSet::kMax; ++gpu) {
    if (gpus.contains(gpu)) names.push_back(std::to_string(gpu));
  }
  return names;
}

}  // namespace

Result<ImageDevices> find_devices(const ImageSettings& settings, const GpuSet& gpus,
                                  const std::function<void(const std::string&)>& say) {
  if (gpus.is_empty()) return ImageDevices{};
  std::vector<std::vector<CdiSpec>> folders;
  for (const std::string& folder : settings.cdi) {
    Result<std::vector<CdiSpec>> specs = specs_in(folder, settings.gpu_device);
    RETURN_IF_ERROR(specs.status());
    folders.push_back(std::move(specs).value());
  }
  Result<CdiEdits> chosen = choose_cdi(folders, settings.gpu_device, names_of(gpus));
  RETURN_IF_ERROR(chosen.status());
  CdiEdits& edits = chosen.value();
  for (const ImageMount& mount : edits.mounts) {
    if (::access(mount.from.c_str(), F_OK) == 0) continue;
    return failed_precondition("this node's CDI files mount {}: {}", mount.from, errno_text(errno));
  }
  for (const std::string& node : edits.device_nodes) {
    if (::access(node.c_str(), F_OK) != 0) edits.skipped.push_back(node + ", which is not there");
  }
  if (!edits.skipped.empty())
    say(fmt::format("of this node's CDI files is left out: {}", fmt::join(edits.skipped, ", ")));
  ImageDevices devices;
  devices.links = edits.links;
  add_libraries(edits, devices);
  devices.environment = std::move(edits.environment);
  devices.mounts = std::move(edits.mounts);
  return devices;
}

}  // namespace hai
