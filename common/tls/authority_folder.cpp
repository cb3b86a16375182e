#include "common/tls/authority_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hai {
namespace {

Status write_new(const std::string& path, const std::string& text, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0 && errno == EEXIST) {
    return already_exists("{} is there already, and nothing is written over: move it away first",
                          path);
  }
  if (file < 0) return unavailable("cannot write {}: {}", path, std::strerror(errno));
  const bool done = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (done) return ok();
  ::unlink(path.c_str());
  return unavailable("cannot write {}: {}", path, std::strerror(error));
}

Status write_both(const TlsFiles& files, const KeyAndCertificate& pair) {
  RETURN_IF_ERROR(write_new(files.key, pair.key, 0600));
  const Status status = write_new(files.certificate, pair.certificate, 0644);
  if (!status.is_ok()) ::unlink(files.key.c_str());
  return status;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return not_found("cannot read {}: {}", path, std::strerror(errno));
  return text.str();
}

}  // namespace

Status AuthorityFolder::make() const {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error)) return ok();
  if (::mkdir(path_.c_str(), 0755) == 0) return ok();
  return unavailable("cannot make the folder {}: {}", path_, std::strerror(errno));
}

Result<KeyAndCertificate> AuthorityFolder::read() const {
  Result<std::string> certificate = read_text(this->certificate());
  if (!certificate.is_ok()) return certificate.status();
  Result<std::string> key = read_text(this->key());
  if (!key.is_ok()) return key.status();
  return KeyAndCertificate{.key = std::move(key).value(),
                           .certificate = std::move(certificate).value()};
}

Status AuthorityFolder::write_authority(const KeyAndCertificate& authority) const {
  return write_both({.certificate = certificate(), .key = key()}, authority);
}

Status AuthorityFolder::write_pair(const std::string& name, const KeyAndCertificate& pair) const {
  return write_both(this->pair(name), pair);
}

}  // namespace hai
