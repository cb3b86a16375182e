#include "common/tls/tls_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "common/tls/certificate.h"
#include "common/tls/openssl.h"

namespace hai {
namespace {

constexpr size_t kFileBytesMax = 4 << 20;  // the system's CAs are a quarter of a megabyte

struct File {
  explicit File(const std::string& path) : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
  const int descriptor;
};

enum class Readers { anybody, owner_and_group };

Result<std::string> read_file(const std::string& path, Readers readers) {
  const File file(path);
  struct stat facts {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &facts) != 0) {
    return not_found("cannot read {}: {}", path, std::strerror(errno));
  }
  const bool is_open = (facts.st_mode & (S_IRWXO | S_IWGRP)) != 0;
  if (readers == Readers::owner_and_group && S_ISREG(facts.st_mode) && is_open) {
    return permission_denied("{}: mode {:04o} lets others at the key: chmod 640 or less", path,
                             facts.st_mode & 07777);
  }
  std::array<char, 16 << 10> chunk{};
  std::string text;
  ssize_t count = 0;
  while (text.size() <= kFileBytesMax &&
         (count = ::read(file.descriptor, chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<size_t>(count));
  }
  if (count < 0) return unavailable("cannot read {}: {}", path, std::strerror(errno));
  if (text.size() > kFileBytesMax) return invalid_argument("{}: too long for PEM", path);
  return text;
}

Status check_key(const TlsFiles& files, const TlsTexts& texts) {
  const openssl::Bio key_text = openssl::memory(texts.key);
  const openssl::Key key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, openssl::no_password, nullptr));
  ERR_clear_error();
  if (!key) {
    return invalid_argument("{}: no private key in PEM, or one that needs a password", files.key);
  }
  if (do_belong_together(texts.key, texts.certificate)) return ok();
  // Not for good: whoever replaces them replaces one after the other.
  return failed_precondition("{} is not the key of {}", files.key, files.certificate);
}

Status check_in_force(const CertificateFacts& facts, const std::string& what) {
  const auto now = UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  if (now > facts.ends) {
    return failed_precondition("{}: the certificate {} has expired on {}; put a new one there",
                               what, facts.subject, format_rfc3339(facts.ends));
  }
  if (now < facts.begins) {
    return failed_precondition(
        "{}: the certificate {} begins on {}; is this machine's clock right?", what, facts.subject,
        format_rfc3339(facts.begins));
  }
  return ok();
}

Status check_certificate(const std::string& pem, const std::string& what) {
  const Result<CertificateFacts> facts = read_certificate(pem);
  if (!facts.is_ok()) return invalid_argument("{}: {}", what, facts.status().message());
  return check_in_force(facts.value(), what);
}

}  // namespace

bool do_belong_together(const std::string& key, const std::string& certificate) {
  const openssl::Bio key_text = openssl::memory(key);
  const openssl::Bio text = openssl::memory(certificate);
  const openssl::Key own(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, openssl::no_password, nullptr));
  const openssl::Certificate shown(
      PEM_read_bio_X509(text.get(), nullptr, openssl::no_password, nullptr));
  const bool do_match = own && shown && X509_check_private_key(shown.get(), own.get()) == 1;
  ERR_clear_error();
  return do_match;
}

Status check_authorities(const std::string& pem, const std::string& what) {
  const std::vector<CertificateFacts> all = read_certificates(pem);
  if (all.empty()) return invalid_argument("{}: no certificate in PEM", what);
  Status first = ok();
  for (const CertificateFacts& each : all) {
    const Status status = each.is_authority ? check_in_force(each, what)
                                            : invalid_argument("{}: the certificate {} is no CA's",
                                                               what, each.subject);
    if (status.is_ok()) return ok();
    if (first.is_ok()) first = status;
  }
  if (all.size() == 1) return first;
  return failed_precondition(
      "{}: none of its {} certificates is of a CA and in force; the first: {}", what, all.size(),
      first.message());
}

std::vector<std::string> warnings_of(const TlsFiles& files) {
  std::vector<std::string> warnings;
  if (files.ca.empty()) return warnings;
  const Result<std::string> text = read_file(files.ca, Readers::anybody);
  if (!text.is_ok()) return warnings;
  for (const CertificateFacts& each : read_certificates(text.value())) {
    const Status status = check_in_force(each, files.ca);
    if (!status.is_ok()) warnings.push_back(status.message());
  }
  return warnings;
}

Result<TlsTexts> read_tls_files(const TlsFiles& files) {
  TlsTexts texts;
  if (files.certificate.empty() != files.key.empty()) {
    return invalid_argument("certificate and key belong together: one of them is not named");
  }
  for (const auto& [path, text] :
       {std::pair(&files.certificate, &texts.certificate), std::pair(&files.ca, &texts.ca)}) {
    if (path->empty()) continue;
    Result<std::string> read = read_file(*path, Readers::anybody);
    if (!read.is_ok()) return read.status();
    *text = std::move(read).value();
    RETURN_IF_ERROR(path == &files.ca ? check_authorities(*text, *path)
                                      : check_certificate(*text, *path));
  }
  if (files.key.empty()) return texts;
  Result<std::string> key = read_file(files.key, Readers::owner_and_group);
  if (!key.is_ok()) return key.status();
  texts.key = std::move(key).value();
  RETURN_IF_ERROR(check_key(files, texts));
  return texts;
}

Result<std::string> ca_that_vouches(const TlsFiles& server) {
  const Result<TlsTexts> texts = read_tls_files(server);
  if (!texts.is_ok()) return texts.status();
  return is_issued_by(texts.value().certificate, texts.value().ca) ? server.ca : kSystemCa;
}

}  // namespace hai
