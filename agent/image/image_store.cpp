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

// No object if there is none, or none that can be read.
Json read_record(const std::string& path) {
  const Result<std::string> text = read_file(path, kRecordBytesMax);
  return text.is_ok() ? Json::parse(text.value(), nullptr, false) : Json();
}

}  // namespace

std::string stored_image_to_json(const StoredImage& image) {
  const Json json = {{"name", image.name},
                     {"digest", image.digest},
                     {"bytes", image.bytes},
                     {"used_at_us", to_micros(image.used_at)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

Result<UniqueFd> ImageStore::take(const std::string& id, int how,
                                  const std::function<void()>& waits) const {
  UniqueFd file(::open(lock_path(id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return internal("{}: {}", lock_path(id), errno_text(errno));
  if (::flock(file.get(), how | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK && waits) waits();
  while (::flock(file.get(), how) != 0) {
    if (errno != EINTR) return internal("{}: {}", lock_path(id), errno_text(errno));
  }
  return file;
}

Result<UniqueFd> ImageStore::share(const std::string& id,
                                   const std::function<void()>& waits) const {
  return take(id, LOCK_SH, waits);
}

Result<UniqueFd> ImageStore::lock(const std::string& id, const std::function<void()>& waits) const {
  return take(id, LOCK_EX, waits);
}

UniqueFd ImageStore::lock_unused(const std::string& id) const {
  UniqueFd file(::open(lock_path(id).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(file)
                                                                       : UniqueFd();
}

std::optional<StoredImage> ImageStore::read(const std::string& id) const {
  const std::string path = folder(id) + "/image.json";
  const Json json = read_record(path);
  if (!json.is_object()) return std::nullopt;
  return StoredImage{.id = id,
                     .name = json.value("name", ""),
                     .digest = json.value("digest", ""),
                     .bytes = json.value("bytes", int64_t{0}),
                     .used_at = modified_at(path)};
}

std::optional<ImageFile> ImageStore::find(const std::string& id) const {
  const std::string record = folder(id) + "/image.json";
  const Json json = read_record(record);
  if (!json.is_object()) return std::nullopt;
  ::utimensat(AT_FDCWD, record.c_str(), nullptr, 0);
  ImageFile image{.folder = folder(id) + "/rootfs",
                  .lock = lock_path(id),
                  .environment = {},
                  .devices = {},
                  .error = {},
                  .is_of_the_node = false};
  const Json environment = json.value("environment", Json::object());
  for (const auto& [name, value] : environment.items()) {
    if (value.is_string()) image.environment[name] = value.get<std::string>();
  }
  return image;
}

Result<std::string> ImageStore::begin(const std::string& copy) const {
  std::error_code error;
  fs::remove_all(partial(copy), error);
  if (::mkdir(partial(copy).c_str(), 0711) != 0) {
    return internal("{}: {}", partial(copy), errno_text(errno));
  }
  return partial(copy);
}

void ImageStore::drop(const std::string& copy) const {
  std::error_code ignored;
  fs::remove_all(partial(copy), ignored);
}

Status ImageStore::keep(const std::string& copy, const StoredImage& image,
                        const Environment& environment) const {
  const Json json = {{"name", image.name},
                     {"digest", image.digest},
                     {"bytes", image.bytes},
                     {"environment", environment}};
  const std::string made = partial(copy);
  RETURN_IF_ERROR(write_file_atomic(made + "/image.json",
                                    json.dump(-1, ' ', false, Json::error_handler_t::replace), 0600,
                                    Durability::survives_crash_of_program));
  // After a power cut it is whole or not there, too.
  const UniqueFd disk(::open(made.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!disk.is_open() || ::syncfs(disk.get()) != 0)
    return internal("{}: {}", made, errno_text(errno));
  // Programs that run with their owner's rights lie in it: nobody reaches them from outside.
  if (::chmod(made.c_str(), 0700) != 0) return internal("{}: {}", made, errno_text(errno));
  return rename_copy(copy, image.id);
}

// Somebody else may have been quicker, and ranks may run in his: he is not waited for.
Status ImageStore::rename_copy(const std::string& copy, const std::string& id) const {
  UniqueFd lock = lock_unused(id);
  if (!lock.is_open()) {
    Result<UniqueFd> shared = share(id, nullptr);
    RETURN_IF_ERROR(shared.status());
    lock = std::move(shared).value();
  } else if (!read(id)) {
    std::error_code ignored;
    fs::remove_all(folder(id), ignored);  // one whose record cannot be read
  }
  if (::rename(partial(copy).c_str(), folder(id).c_str()) == 0) return ok();
  const int error = errno;
  if (!read(id)) return internal("{}: {}", folder(id), errno_text(error));
  lock.reset();  // to remove it takes a while
  drop(copy);
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

std::vector<StoredImage> ImageStore::prune(int64_t bytes_max) const {
  std::vector<std::pair<StoredImage, UniqueFd>> unused;
  int64_t bytes = 0;
  for (StoredImage& image : list()) {
    UniqueFd lock = lock_unused(image.id);
    if (!lock.is_open()) continue;
    bytes += image.bytes;
    unused.emplace_back(std::move(image), std::move(lock));
  }
  std::vector<StoredImage> gone;
  std::error_code error;
  for (const auto& [image, lock] : unused) {
    if (bytes <= bytes_max) break;
    bytes -= image.bytes;
    gone.push_back(image);
    drop(image.id);
    fs::rename(folder(image.id), partial(image.id), error);  // it is whole or not there
    drop(image.id);
  }
  unused.clear();
  // What is left of tries that were ended, with nobody at work on them.
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string id = entry->path().stem().string();
    if (entry->path().extension() != ".partial") continue;
    const UniqueFd lock = lock_unused(id);
    if (lock.is_open()) drop(id);
  }
  return gone;
}

}  // namespace hai
