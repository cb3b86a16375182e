#pragma once
// The unpacked images of a node, in a folder of root's: STORE/ID/ with rootfs/, environment.json
// and image.json, whose time is that of the last use. STORE/ID.lock is held by who makes or removes
// the image, and shared by every rank that runs in it. Images are whole or not there: they are made
// beside and then renamed.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/os/files.h"
#include "agent/os/image_file.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

struct StoredImage {
  std::string id;
  std::string name;    // as the first job named it
  std::string digest;  // "sha256:…"
  int64_t bytes = 0;   // on disk
  UnixTime used_at{};  // when a rank last began in it
};

// A line of JSON: name, digest, bytes, used_at_us.
std::string stored_image_to_json(const StoredImage& image);

class ImageStore {
 public:
  // Makes the folder.
  static Result<ImageStore> open(const std::string& path);

  // To use it: shared by all who do. Waits until nobody makes or removes it; `waits` is told then.
  Result<UniqueFd> share(const std::string& id, const std::function<void()>& waits) const;
  // To make it: nobody else makes it or uses it.
  Result<UniqueFd> lock(const std::string& id, const std::function<void()>& waits) const;
  std::string lock_path(const std::string& id) const { return path_ + "/" + id + ".lock"; }

  // Of an image that is there; marks it as used. With its lock held, or shared.
  std::optional<ImageFile> find(const std::string& id) const;
  // A folder to make it in, new and empty; what was left of an earlier try goes. With its lock
  // held.
  Result<std::string> begin(const std::string& id) const;
  // Nothing came of it.
  void drop(const std::string& id) const;
  // The folder holds rootfs/: it is kept.
  Status keep(const StoredImage& image, const Environment& environment) const;

  std::vector<StoredImage> list() const;  // what was used longest ago first
  // Removes images that no rank uses until the rest of such has at most so many bytes. The names of
  // those that went.
  std::vector<std::string> prune(int64_t bytes_max) const;

 private:
  explicit ImageStore(std::string path) : path_(std::move(path)) {}
  std::string folder(const std::string& id) const { return path_ + "/" + id; }
  std::string partial(const std::string& id) const { return path_ + "/" + id + ".partial"; }
  std::optional<StoredImage> read(const std::string& id) const;
  // Not open if somebody makes, removes or uses it.
  UniqueFd lock_unused(const std::string& id) const;
  Result<UniqueFd> take(const std::string& id, int how, const std::function<void()>& waits) const;

  std::string path_;
};

// Of all files below, as the disk counts them.
int64_t bytes_on_disk(const std::string& folder);

}  // namespace hai
