#include "agent/image/image_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace hai {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kRecordBytesMax = 1 << 20;

UnixTime modified_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return UnixTime{};
  return UnixTime(std::chrono::seconds(info.st_mtim.tv_sec) +
                  std::chrono::microseconds(info.st_mtim.tv_nsec / 1000));
}

}  // namespace

int64_t bytes_on_disk(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) == 0) bytes += info.st_blocks * 512;
  }
  return bytes;
}

Result<ImageStore> ImageStore::open(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  // Users pass through to what they copy their own images into (image_pull.h), and see nothing.
  if (error || ::chmod(path.c_str(), 0711) != 0) {
    return internal("cannot make the folder of images {}: {}", path,
                    error ? error.message() : errno_text(errno));
  }
  return ImageStore(path);
}

Result<UniqueFd> ImageStore::lock(const std::string& id, const std::function<void()>& waits) const {
  UniqueFd file(::open(lock_path(id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return internal("{}: {}", lock_path(id), errno_text(errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK && waits) waits();
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return internal("{}: {}", lock_path(id), errno_text(errno));
  }
  return file;
}

std::optional<StoredImage> ImageStore::read(const std::string& id) const {
  const std::string path = folder(id) + "/image.json";
  const Result<std::string> text = read_file(path, kRecordBytesMax);
  if (!text.is_ok()) return std::nullopt;
  const Json json = Json::parse(text.value(), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return StoredImage{.id = id,
                     .name = json.value("name", ""),
                     .digest = json.value("digest", ""),
                     .bytes = json.value("bytes", int64_t{0}),
                     .used_at = modified_at(path)};
}

std::optional<ImageFile> ImageStore::find(const std::string& id) const {
  const std::string record = folder(id) + "/image.json";
  const Result<std::string> text = read_file(record, kRecordBytesMax);
  if (!text.is_ok()) return std::nullopt;
  const Json json = Json::parse(text.value(), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  ::utimensat(AT_FDCWD, record.c_str(), nullptr, 0);
  ImageFile image{.folder = folder(id) + "/rootfs",
                  .lock = lock_path(id),
                  .environment = {},
                  .error = {},
                  .is_of_the_node = false};
  const Json environment = json.value("environment", Json::object());
  for (const auto& [name, value] : environment.items()) {
    if (value.is_string()) image.environment[name] = value.get<std::string>();
  }
  return image;
}

Result<std::string> ImageStore::begin(const std::string& id) const {
  std::error_code error;
  fs::remove_all(partial(id), error);
  if (::mkdir(partial(id).c_str(), 0711) != 0) {
    return internal("{}: {}", partial(id), errno_text(errno));
  }
  return partial(id);
}

Status ImageStore::keep(const StoredImage& image, const Environment& environment) const {
  const Json json = {{"name", image.name},
                     {"digest", image.digest},
                     {"bytes", image.bytes},
                     {"environment", environment}};
  const std::string made = partial(image.id);
  RETURN_IF_ERROR(write_file_atomic(made + "/image.json",
                                    json.dump(-1, ' ', false, Json::error_handler_t::replace), 0600,
                                    Durability::survives_crash_of_program));
  // Programs that run with their owner's rights lie in it: nobody reaches them from outside.
  if (::chmod(made.c_str(), 0700) != 0 || ::rename(made.c_str(), folder(image.id).c_str()) != 0)
    return internal("{}: {}", folder(image.id), errno_text(errno));
  return ok();
}

std::vector<StoredImage> ImageStore::list() const {
  std::vector<StoredImage> images;
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find('.') != std::string::npos) continue;
    if (std::optional<StoredImage> image = read(name)) images.push_back(std::move(*image));
  }
  std::sort(images.begin(), images.end(), [](const StoredImage& a, const StoredImage& b) {
    return a.used_at != b.used_at ? a.used_at < b.used_at : a.id < b.id;
  });
  return images;
}

// False if a rank uses it, or somebody makes it.
bool ImageStore::remove(const std::string& id) const {
  const UniqueFd file(::open(lock_path(id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  std::error_code error;
  fs::remove_all(partial(id), error);
  // In one step, as an image is whole or not there.
  fs::rename(folder(id), partial(id), error);
  if (!error) fs::remove_all(partial(id), error);
  return true;
}

std::vector<std::string> ImageStore::prune(int64_t bytes_max) const {
  const std::vector<StoredImage> images = list();
  int64_t bytes = 0;
  for (const StoredImage& image : images) bytes += image.bytes;
  std::vector<std::string> gone;
  for (const StoredImage& image : images) {
    if (bytes <= bytes_max) break;
    if (!remove(image.id)) continue;
    bytes -= image.bytes;
    gone.push_back(image.name);
  }
  // What is left of tries that were ended, with nobody at work on them.
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".partial") continue;
    const std::string id = path.stem().string();
    const UniqueFd file(::open(lock_path(id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    std::error_code ignored;
    if (file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(path, ignored);
  }
  return gone;
}

}  // namespace hai
