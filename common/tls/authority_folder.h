#pragma once
// The folder of an authority: ca.crt, ca.key, and the pairs it has issued, NAME.crt and NAME.key.
// Keys have mode 0600 and the owner of ca.key, the server's user, whoever makes them; no pair is
// ever written over: a key that is gone is gone for good. While the authority is changed, ca.crt
// has two certificates, that of the new one first, and the old one's key and certificate lie beside
// as ca-old.key and ca-old.crt. postgresql.crt is a copy of the certificate that setup has given
// the cluster's PostgreSQL, whose key is not here.

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
  std::string database_certificate() const { return path_ + "/postgresql.crt"; }
  // The files of the pair NAME.
  TlsFiles pair(const std::string& name) const {
    return {.certificate = path_ + "/" + name + ".crt", .key = path_ + "/" + name + ".key"};
  }

  // Makes the folder if it is not there.
  Status make() const;
  Result<KeyAndCertificate> read() const;
  // The one that goes, while the authority is changed.
  Result<KeyAndCertificate> read_old() const;
  Status write_authority(const KeyAndCertificate& authority) const;
  // Both files or none; already_exists names the one that is there.
  Status write_pair(const std::string& name, const KeyAndCertificate& pair) const;

  // A new authority that issues from now on; the old one is believed until retire().
  Status rotate(const KeyAndCertificate& fresh) const;
  // Only the authority that issues is believed from now on. failed_precondition if there is no
  // other, or if a certificate in this folder is of another and in force: who uses it would be shut
  // out.
  Status retire() const;

 private:
  std::string old_certificate() const { return path_ + "/ca-old.crt"; }
  std::string old_key() const { return path_ + "/ca-old.key"; }
  Status check_nobody_needs_old(const std::string& own) const;

  std::string path_;
};

}  // namespace hai
