#include "agent/shim/image_root.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

namespace hai {

namespace {

namespace fs = std::filesystem;

// Of the machine, in every image: devices (cgroups say which may be opened), what describes the
// hardware, and how names are found.
constexpr auto kOfMachine =
    std::to_array<const char*>({"/dev", "/sys", "/etc/resolv.conf", "/etc/hosts", "/etc/hostname"});
constexpr auto kOwnFolders = std::to_array<const char*>({"/proc", "/sys", "/dev", "/tmp"});
constexpr size_t kAccountsBytesMax = 1 << 20;

bool is_below(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Result<MountTree> open_mount(const ImageMount& mount, const ImageRootPlan& plan) {
  UniqueFd place = open_place(mount.from);
  if (!place.is_open()) {
    return invalid_argument("mount {}: {}, for user {} on this node", mount.from, errno_text(errno),
                            plan.user);
  }
  const std::string real = place_of(place);
  if (!may_be_mounted(real)) {
    return invalid_argument("mount {} is {}, which cannot be mounted", mount.from, real);
  }
  const bool is_allowed =
      std::any_of(plan.allowed_mounts.begin(), plan.allowed_mounts.end(),
                  [&](const std::string& folder) { return is_below(real, folder); });
  if (!is_allowed) {
    return invalid_argument("mount {}: this node's site allows no mounts of {}", mount.from, real);
  }
  return MountTree{.to = mount.to,
                   .tree = std::move(place),
                   .is_read_only = mount.is_read_only,
                   .may_have_devices = false};
}

// What ranks have of their own must not come in under another name: not all processes, nor the
// sockets in /run. Where the platform's folders may be, in /tmp, it may be.
bool may_be_seen(const std::string& real) {
  return may_be_mounted(real) || real.starts_with("/tmp/");
}

Status check_root_folder(const ImageRootPlan& plan, const UniqueFd& folder) {
  if (!folder.is_open() || ::faccessat(folder.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) {
    return invalid_argument("image {}: {}, for user {} on this node", plan.folder,
                            errno_text(errno), plan.user);
  }
  if (plan.is_of_user && !may_be_seen(place_of(folder)))
    return invalid_argument(
        "image {} is a folder that ranks have of their own: name one that is a root folder",
        plan.folder);
  return ok();
}

// Not there, or not to be entered: the program will say what it misses.
void add_folder(const std::string& path, std::vector<MountTree>& out) {
  if (!path.starts_with('/')) return;
  UniqueFd place = open_place(path);
  if (!place.is_open() || !may_be_seen(place_of(place))) return;
  out.push_back({.to = path, .tree = std::move(place), .may_have_devices = false});
}

// In an image that nobody runs in yet. A file of the image that is no link stays what it is.
void make_link(const ImageLink& link) {
  std::error_code ignored;
  const fs::path path = link.path;
  fs::create_directories(path.parent_path(), ignored);
  if (fs::is_symlink(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
  fs::create_symlink(link.target, path, ignored);
}

// One line of a file of accounts, "name:x:NUMBER:…"; -1 if it is none.
int64_t number_of(std::string_view line) {
  for (int colons = 0; colons < 2; ++colons) {
    const size_t at = line.find(':');
    if (at == std::string_view::npos) return -1;
    line.remove_prefix(at + 1);
  }
  int64_t number = 0;
  for (const char c : line.substr(0, line.find(':'))) {
    if (c < '0' || c > '9' || number > UINT32_MAX) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

// No more than kAccountsBytesMax, also of a file that grows meanwhile.
std::optional<std::string> read_accounts(const UniqueFd& file) {
  std::string text(kAccountsBytesMax + 1, '\0');
  for (size_t length = 0; length < text.size();) {
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0) return std::nullopt;
    length += static_cast<size_t>(got);
    if (got == 0) {
      text.resize(length);
      return text;
    }
  }
  return std::nullopt;
}

bool has_account(std::string_view text, int64_t number) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (number_of(text.substr(0, end)) == number) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

void replace_accounts(const std::string& path, const std::string& text, const struct stat& like) {
  const std::string temporary = path + ".hai";
  const UniqueFd file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return;
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fchown(file.get(), like.st_uid, like.st_gid) != 0 ||
      ::fchmod(file.get(), like.st_mode & 0777) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0)
    ::unlink(temporary.c_str());
}

// Adds the line unless a line for this number is there. What is no plain file, or too long, is left
// as it is. The image's file is never opened for writing: all of it would be copied into memory
// first, and not into the rank's.
void add_account(const std::string& path, int64_t number, const std::string& line) {
  struct stat info {};
  info.st_mode = 0644;  // of one that is not there
  std::string text;
  const UniqueFd file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open() && errno != ENOENT) return;
  if (file.is_open()) {
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    std::optional<std::string> accounts = read_accounts(file);
    if (!accounts) return;
    text = std::move(*accounts);
  }
  if (has_account(text, number)) return;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  replace_accounts(path, text + line + "\n", info);
}

}  // namespace

Status ImageRoot::look(const ImageRootPlan& plan, const UserIdentity& user) {
  const ActingAs acting(user);
  if (plan.is_of_user) {
    const UniqueFd root = open_place(plan.folder);
    RETURN_IF_ERROR(check_root_folder(plan, root));
  }
  for (const ImageMount& mount : plan.mounts) RETURN_IF_ERROR(open_mount(mount, plan).status());
  return ok();
}

Result<ImageRoot> ImageRoot::prepare(const ImageRootPlan& plan, const std::string& temp_dir,
                                     const UserIdentity& user) {
  ImageRoot root;
  root.user_name_ = plan.user;
  root.user_ = user;
  root.place_ = plan.place;
  root.is_of_user_ = plan.is_of_user;
  root.memory_bytes_ = plan.memory_bytes;
  root.lower_ = {.to = plan.place + "/lower", .tree = UniqueFd(), .may_have_devices = false};
  if (!plan.is_of_user) root.lower_.tree = open_place(plan.folder);
  {
    const ActingAs acting(user);
    if (plan.is_of_user) root.lower_.tree = open_place(plan.folder);
    RETURN_IF_ERROR(check_root_folder(plan, root.lower_.tree));
    for (const std::string& path : plan.folders) add_folder(path, root.mounts_);
    for (const ImageMount& mount : plan.mounts) {
      Result<MountTree> opened = open_mount(mount, plan);
      RETURN_IF_ERROR(opened.status());
      root.mounts_.push_back(std::move(opened).value());
    }
  }
  root.links_ = plan.devices.links;
  for (const ImageMount& mount : plan.devices.mounts) {
    UniqueFd place = open_place(mount.from);
    if (!place.is_open()) return mounts_failed(mount.from);
    root.mounts_.push_back({.to = mount.to,
                            .tree = std::move(place),
                            .is_read_only = mount.is_read_only,
                            .may_have_devices = false});
  }
  RETURN_IF_ERROR(detach_mount(root.lower_));
  for (const char* path : kOfMachine) {
    UniqueFd place = open_place(path);
    const bool is_file = std::string_view(path).starts_with("/etc/");
    if (place.is_open())
      root.mounts_.push_back({.to = path, .tree = std::move(place), .is_read_only = is_file});
  }
  root.temp_ = {.to = "/tmp", .tree = open_place(temp_dir), .may_have_devices = false};
  RETURN_IF_ERROR(detach_mount(root.temp_));
  std::stable_sort(root.mounts_.begin(), root.mounts_.end(),
                   [](const MountTree& a, const MountTree& b) { return a.to < b.to; });
  for (MountTree& mount : root.mounts_) RETURN_IF_ERROR(detach_mount(mount));
  return root;
}

Status ImageRoot::enter() const {
  RETURN_IF_ERROR(mount_layers());
  const std::string root = place_ + "/root";
  if (::chdir(root.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
      ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0)
    return mounts_failed("the image's root folder");
  make_account();
  return attach_all();
}

// All places are made before the first folder of the machine is attached: in that root would make
// files for a user who may not. /tmp is new, and nobody's yet.
Status ImageRoot::attach_all() const {
  std::error_code ignored;
  for (const char* path : kOwnFolders) {
    if (fs::is_symlink(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
  }
  for (const ImageLink& link : links_) make_link(link);
  make_place(temp_);
  RETURN_IF_ERROR(attach_mount(temp_));
  for (const MountTree& mount : mounts_) make_place(mount);
  fs::create_directories("/proc", ignored);
  for (const MountTree& mount : mounts_) {
    const Status attached = attach_mount(mount);
    if (attached.is_ok()) continue;
    if (attached.code() != Code::not_found) return attached;
    return invalid_argument(
        "mount {}: what is mounted around it has no such place: make it there, or mount it "
        "elsewhere",
        mount.to);
  }
  return ok();
}

// The upper layer is memory, of whoever writes: the rank's programs run into the rank's limit. It
// holds no more than that, whoever writes; without a limit half of the machine's, as the kernel has
// it. It is gone with the rank.
Status ImageRoot::mount_layers() const {
  const std::string in_memory =
      memory_bytes_ > 0 ? fmt::format("mode=755,size={}", memory_bytes_) : "mode=755";
  if (::mount("tmpfs", place_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, in_memory.c_str()) != 0)
    return mounts_failed(place_);
  for (const char* layer : {"/upper", "/work", "/root", "/lower"}) {
    if (::mkdir((place_ + layer).c_str(), 0755) != 0) return mounts_failed(place_ + layer);
  }
  RETURN_IF_ERROR(attach_mount(lower_));
  struct stat info {};
  if (::stat(lower_.to.c_str(), &info) != 0 ||
      ::chown((place_ + "/upper").c_str(), info.st_uid, info.st_gid) != 0 ||
      ::chmod((place_ + "/upper").c_str(), info.st_mode & 0777) != 0)
    return mounts_failed("the image");
  const std::string options =
      fmt::format("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", place_);
  if (::mount("overlay", (place_ + "/root").c_str(), "overlay", MS_NOSUID | MS_NODEV,
              options.c_str()) == 0)
    return ok();
  // Of a file system that cannot lie below another.
  if (errno == EINVAL && is_of_user_)
    return invalid_argument(
        "its image lies on a file system that cannot be a root folder here: copy it to another");
  return mounts_failed("the image");
}

// Programs ask who they are. A home that is not mounted is made, and his.
void ImageRoot::make_account() const {
  const UserIdentity& user = user_;
  if (!user.switch_user) return;
  add_account(
      "/etc/passwd", user.uid,
      fmt::format("{}:x:{}:{}::{}:{}", user_name_, user.uid, user.gid, user.home, user.shell));
  add_account("/etc/group", user.gid, fmt::format("{}:x:{}:", user_name_, user.gid));
  std::error_code error;
  if (!user.home.starts_with('/') || fs::exists(user.home, error)) return;
  if (fs::create_directories(user.home, error))
    static_cast<void>(!::lchown(user.home.c_str(), user.uid, user.gid));
}

}  // namespace hai
