#include "common/tls/pair_files.h"

#include <cstdio>
#include <utility>

#include "common/tls/replace_file.h"

namespace hai {
namespace {

// Not `.new`, which replace_file() takes.
std::string next_of(const std::string& path) { return path + ".next"; }

}  // namespace

Status replace_pair(const TlsFiles& files, const std::string& key, const std::string& certificate) {
  if (files.key == files.certificate) return replace_file(files.key, key + certificate, 0600);
  RETURN_IF_ERROR(replace_file(next_of(files.certificate), certificate, 0644));
  Status status = replace_file(files.key, key, 0600);
  if (!status.is_ok()) {
    std::remove(next_of(files.certificate).c_str());
    return status;
  }
  if (std::rename(next_of(files.certificate).c_str(), files.certificate.c_str()) == 0) return ok();
  return unavailable("cannot replace {}", files.certificate);
}

void finish_replacing(const TlsFiles& files) {
  if (files.key.empty() || files.key == files.certificate) return;
  TlsFiles next = files;
  next.ca = "";
  if (read_tls_files(next).is_ok()) return;
  next.certificate = next_of(files.certificate);
  if (!read_tls_files(next).is_ok()) return;
  std::rename(next.certificate.c_str(), files.certificate.c_str());
}

}  // namespace hai
