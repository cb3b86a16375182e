#include "agent/image/image_layout.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "agent/os/files.h"
#include "common/image.h"

namespace hai {

namespace {

using Json = nlohmann::json;

constexpr size_t kDocumentBytesMax = 4 << 20;
constexpr size_t kEnvironmentBytesMax = 256 << 10;
constexpr size_t kFilesMax = 4'096;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

UniqueFd open_folder(int in, const char* name) {
  return UniqueFd(::openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Result<std::vector<std::string>> names_in(const UniqueFd& folder) {
  const std::unique_ptr<DIR, CloseFolder> open(::fdopendir(::dup(folder.get())));
  std::vector<std::string> names;
  while (open) {
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    if (names.size() == kFilesMax) return invalid_argument("has more than {} files", kFilesMax);
    names.emplace_back(entry->d_name);
  }
  return names;
}

// By its descriptor: what has the name a moment later does not count.
Status move_file(const UniqueFd& from, const std::string& name, const std::string& to) {
  const UniqueFd file(
      ::openat(from.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0)
    return invalid_argument("{}: {}", name, errno_text(errno));
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1)
    return invalid_argument("{} is not a plain file", name);
  const std::string opened = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return internal("{}: {}", to, errno_text(errno));
  return ok();
}

Result<Json> read_document(const std::string& path) {
  const Result<std::string> text = read_file(path, kDocumentBytesMax);
  RETURN_IF_ERROR(text.status());
  Json json = Json::parse(text.value(), nullptr, false);
  if (!json.is_object()) return not_found("{} is no document of an image", path);
  return json;
}

Result<Json> read_blob(const std::string& layout, const Json& descriptor) {
  const std::string digest = descriptor.is_object() ? descriptor.value("digest", "") : "";
  if (!is_image_digest(digest)) return not_found("the image has a part without a digest");
  return read_document(layout + "/blobs/sha256/" + digest.substr(digest.find(':') + 1));
}

Result<Json> read_config(const std::string& layout) {
  const Result<Json> index = read_document(layout + "/index.json");
  RETURN_IF_ERROR(index.status());
  const Json manifests = index.value().value("manifests", Json::array());
  if (!manifests.is_array() || manifests.empty()) return not_found("the image has no manifest");
  const Result<Json> manifest = read_blob(layout, manifests.front());
  RETURN_IF_ERROR(manifest.status());
  return read_blob(layout, manifest.value().value("config", Json::object()));
}

}  // namespace

Status take_layout(const std::string& from, const std::string& to) {
  const std::string blobs = to + "/blobs/sha256";
  if (::mkdir(to.c_str(), 0700) != 0 || ::mkdir((to + "/blobs").c_str(), 0700) != 0 ||
      ::mkdir(blobs.c_str(), 0700) != 0)
    return internal("{}: {}", to, errno_text(errno));
  const UniqueFd top = open_folder(AT_FDCWD, from.c_str());
  const UniqueFd middle = open_folder(top.get(), "blobs");
  const UniqueFd files = open_folder(middle.get(), "sha256");
  if (!files.is_open()) return invalid_argument("is no OCI layout");
  for (const char* name : {"index.json", "oci-layout"})
    RETURN_IF_ERROR(move_file(top, name, to + "/" + name));
  const Result<std::vector<std::string>> names = names_in(files);
  RETURN_IF_ERROR(names.status());
  for (const std::string& name : names.value())
    RETURN_IF_ERROR(move_file(files, name, blobs + "/" + name));
  return ok();
}

static Status read_variables(const std::string& layout, Environment& out) {
  const Result<Json> document = read_config(layout);
  RETURN_IF_ERROR(document.status());
  const Json config = document.value().value("config", Json::object());
  const Json variables = config.is_object() ? config.value("Env", Json::array()) : Json::array();
  size_t bytes = 0;
  for (const Json& variable : variables) {
    if (!variable.is_string()) continue;
    const std::string word = variable.get<std::string>();
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || word.find('\0') != std::string::npos)
      continue;
    bytes += word.size();
    if (bytes > kEnvironmentBytesMax) return not_found("the image sets more than 256 KiB");
    out[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return ok();
}

Status read_image_environment(const std::string& layout, Environment& out) {
  try {
    return read_variables(layout, out);
  } catch (const Json::exception& error) {  // a value of another kind than it should be
    return not_found("the image's documents make no sense: {}", error.what());
  }
}

}  // namespace hai
