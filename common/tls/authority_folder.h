#pragma once
// The folder of an authority: ca.crt, ca.key, and the pairs it has issued, NAME.crt and NAME.key.
// All files have mode 0600, and none is ever written over: a key that is gone is gone for good.

#include <string>

#include "common/status.h"
#include "common/tls/authority.h"
#include "common/tls/tls_files.h"

namespace hai {

class AuthorityFolder {
 public:
  explicit AuthorityFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string certificate() const { return path_ + "/ca.crt"; }
  std::string key() const { return path_ + "/ca.key"; }
  // The files of the pair NAME.
  TlsFiles pair(const std::string& name) const {
    return {.certificate = path_ + "/" + name + ".crt", .key = path_ + "/" + name + ".key"};
  }

  // Makes the folder, with mode 0700, if it is not there.
  Status make() const;
  Result<KeyAndCertificate> read() const;
  Status write_authority(const KeyAndCertificate& authority) const;
  // Both files or none; already_exists names the one that is there.
  Status write_pair(const std::string& name, const KeyAndCertificate& pair) const;

 private:
  std::string path_;
};

}  // namespace hai
