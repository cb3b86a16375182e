#include "common/tls/authority_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "common/tls/certificate.h"
#include "common/tls/replace_file.h"
#include "common/whole_file.h"

namespace hai {
namespace {

Status write_new(const std::string& path, const std::string& text, mode_t mode,
                 const std::string& owned_like) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0 && errno == EEXIST) {
    return already_exists("{} is there already, and nothing is written over: move it away first",
                          path);
  }
  if (file < 0) return unavailable("cannot write {}: {}", path, std::strerror(errno));
  // Whatever the umask of who calls: a certificate that its program cannot read is good for
  // nothing.
  const bool done = ::fchmod(file, mode) == 0 && own_like(file, owned_like) &&
                    ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (done) return ok();
  ::unlink(path.c_str());
  return unavailable("cannot write {}: {}", path, std::strerror(error));
}

Status write_both(const TlsFiles& files, const KeyAndCertificate& pair,
                  const std::string& owned_like) {
  RETURN_IF_ERROR(write_new(files.key, pair.key, 0600, owned_like));
  const Status status = write_new(files.certificate, pair.certificate, 0644, owned_like);
  if (!status.is_ok()) ::unlink(files.key.c_str());
  return status;
}

Result<KeyAndCertificate> read_both(const TlsFiles& files) {
  Result<std::string> certificate = read_whole_file(files.certificate);
  if (!certificate.is_ok()) return certificate.status();
  Result<std::string> key = read_whole_file(files.key);
  if (!key.is_ok()) return key.status();
  return KeyAndCertificate{.key = std::move(key).value(),
                           .certificate = std::move(certificate).value()};
}

}  // namespace

Status AuthorityFolder::make() const {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error)) return ok();
  if (::mkdir(path_.c_str(), 0755) == 0 && ::chmod(path_.c_str(), 0755) == 0) return ok();
  return unavailable("cannot make the folder {}: {}", path_, std::strerror(errno));
}

Result<KeyAndCertificate> AuthorityFolder::read() const {
  return read_both({.certificate = certificate(), .key = key()});
}

Result<KeyAndCertificate> AuthorityFolder::read_old() const {
  return read_both({.certificate = old_certificate(), .key = old_key()});
}

Status AuthorityFolder::write_authority(const KeyAndCertificate& authority) const {
  return write_both({.certificate = certificate(), .key = key()}, authority, "");
}

// First ca.crt, so that at each moment the certificate of ca.key is in it; first of all the copies
// of the old one, so that nothing is lost whenever this is cut off.
Status AuthorityFolder::rotate(const KeyAndCertificate& fresh) const {
  const Result<KeyAndCertificate> old = read();
  RETURN_IF_ERROR(old.status());
  const Result<std::string> own = own_certificate(old.value());
  RETURN_IF_ERROR(own.status());
  if (read_certificates(old.value().certificate).size() > 1) {
    return failed_precondition(
        "{} has more than one CA: the last change is not over, end it with `hai-server ca retire`",
        certificate());
  }
  RETURN_IF_ERROR(replace_file(old_key(), old.value().key, 0600, key()));
  RETURN_IF_ERROR(replace_file(old_certificate(), own.value(), 0644, certificate()));
  RETURN_IF_ERROR(
      replace_file(certificate(), fresh.certificate + own.value(), 0644, certificate()));
  return replace_file(key(), fresh.key, 0600, key());
}

Status AuthorityFolder::retire() const {
  const Result<KeyAndCertificate> now = read();
  RETURN_IF_ERROR(now.status());
  const Result<std::string> own = own_certificate(now.value());
  RETURN_IF_ERROR(own.status());
  if (read_certificates(now.value().certificate).size() < 2) {
    return failed_precondition("{} has one CA only: there is nothing to retire", certificate());
  }
  RETURN_IF_ERROR(check_nobody_needs_old(own.value()));
  RETURN_IF_ERROR(replace_file(certificate(), own.value(), 0644, certificate()));
  ::unlink(old_key().c_str());
  ::unlink(old_certificate().c_str());
  return ok();
}

Status AuthorityFolder::check_nobody_needs_old(const std::string& own) const {
  const auto now = UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
    if (entry.path().extension() != ".crt") continue;
    const Result<std::string> text = read_whole_file(entry.path());
    if (!text.is_ok()) continue;
    const Result<CertificateFacts> facts = read_certificate(text.value());
    if (!facts.is_ok() || facts.value().is_authority || facts.value().ends < now) continue;
    if (is_issued_by(text.value(), own)) continue;
    const bool is_database = entry.path() == std::filesystem::path(database_certificate());
    return failed_precondition(
        "{} is of the old CA and in force: {}", entry.path().string(),
        is_database ? "PostgreSQL shows it to further servers: once ca.crt of each has both CAs, "
                      "move this file away and run `hai-server setup --add-server` for one of them "
                      "again"
                    : "have a new one issued and in place, and move this one away");
  }
  return ok();
}

Status AuthorityFolder::write_pair(const std::string& name, const KeyAndCertificate& pair) const {
  return write_both(this->pair(name), pair, key());
}

}  // namespace hai
