#pragma once
// A folder of the log store. Everything below the store's root is reached name by name from an open
// folder and never through a symbolic link, so that nothing outside the store can be read, written
// or deleted. Calls wait for the storage: never on a loop's thread.
//
// Errors: not_found; resource_exhausted when the storage is full or a quota of it is used up;
// unavailable for all else that storage says.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "common/unique_fd.h"

namespace hai {

struct FileFacts {
  int64_t bytes = 0;
  UnixTime changed_at{};
};

class Folder {
 public:
  Folder(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  const std::string& path() const { return path_; }  // for texts only
  int fd() const { return fd_.get(); }

  Result<Folder> open(const std::string& name) const;
  Result<Folder> open_or_make(const std::string& name) const;  // mode 0700

  // All names but "." and "..", in no order.
  Result<std::vector<std::string>> list() const;
  Result<FileFacts> facts(const std::string& name) const;  // of a regular file

  // not_found if there is none; resource_exhausted if it has more than bytes_max.
  Result<std::string> read(const std::string& name, size_t bytes_max) const;
  // Readers see the old content or the new one. Mode 0600, as all files here.
  Status replace(const std::string& name, std::string_view content) const;
  // Writes behind the first `bytes_before` bytes, which the file must have exactly: aborted if it
  // has not. What could only be written in part is taken back.
  Status append(const std::string& name, int64_t bytes_before, std::string_view content) const;
  Status cut(const std::string& name, int64_t bytes) const;

  // What is gone already is no error.
  Status remove(const std::string& name) const;
  // When a name in it was last made or removed; the beginning of time if storage doesn't say.
  UnixTime changed_at() const;
  // Only if it is empty: false if it is not.
  Result<bool> remove_folder(const std::string& name) const;

 private:
  Result<UniqueFd> open_file(const std::string& name, int flags) const;
  std::string at(const std::string& name) const { return path_ + "/" + name; }

  UniqueFd fd_;
  std::string path_;
};

// What storage said, as errors here are.
Status storage_error(std::string_view what, const std::string& path, int error);

}  // namespace hai
