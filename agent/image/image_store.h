#pragma once
// The unpacked images of a node, in a folder of root's: STORE/ID/ with rootfs/, environment.json
// and image.json, whose time is that of the last use. STORE/ID.lock is held by who removes the
// image, and shared by every rank that runs in it. Images are whole or not there: each is made
// under an id of where it comes from, COPY, in STORE/COPY.partial with STORE/COPY.lock held, and
// then renamed. So a registry that sends nothing holds up nobody who gets the same image from
// another one.

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

  // To use it: shared by all who do. Waits until nobody removes it; `waits` is told then.
  Result<UniqueFd> share(const std::string& id, const std::function<void()>& waits) const;
  // To make a copy: nobody else makes that one.
  Result<UniqueFd> lock(const std::string& id, const std::function<void()>& waits) const;
  std::string lock_path(const std::string& id) const { return path_ + "/" + id + ".lock"; }

  // Of an image that is there; marks it as used. With its lock held, or shared.
  std::optional<ImageFile> find(const std::string& id) const;
  // A folder to make the copy in, new and empty; what was left of an earlier try goes. With its
  // lock held, as the next two.
  Result<std::string> begin(const std::string& copy) const;
  // Nothing came of it.
  void drop(const std::string& copy) const;
  // The folder holds rootfs/: it is kept as the image, and goes if that is there by now.
  Status keep(const std::string& copy, const StoredImage& image,
              const Environment& environment) const;

  std::vector<StoredImage> list() const;  // what was used longest ago first
  // Removes images that no rank uses until the rest of such has at most so many bytes. Those that
  // went.
  std::vector<StoredImage> prune(int64_t bytes_max) const;

 private:
  explicit ImageStore(std::string path) : path_(std::move(path)) {}
  std::string folder(const std::string& id) const { return path_ + "/" + id; }
  std::string partial(const std::string& id) const { return path_ + "/" + id + ".partial"; }
  std::optional<StoredImage> read(const std::string& id) const;
  Status rename_copy(const std::string& copy, const std::string& id) const;
  // Not open if somebody makes, removes or uses it.
  UniqueFd lock_unused(const std::string& id) const;
  Result<UniqueFd> take(const std::string& id, int how, const std::function<void()>& waits) const;

  std::string path_;
};

// Of all files below, as the disk counts them.
int64_t bytes_on_disk(const std::string& folder);

}  // namespace hai
