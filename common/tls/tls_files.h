#pragma once
// The files by which a program proves who it is and knows whom to believe: certificates and keys in
// PEM. Read and judged here, so that each mistake has one sentence that names the file and what to
// do.

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

// Paths; "" = none.
struct TlsFiles {
  std::string certificate;  // its own, and the intermediate ones above it
  std::string key;          // of that certificate
  std::string ca;           // whose certificates it believes
  bool operator==(const TlsFiles&) const = default;
};

// What is in them; "" = none.
struct TlsTexts {
  std::string certificate;
  std::string key;
  std::string ca;
  bool operator==(const TlsTexts&) const = default;
};

// The certificates that the machine believes: for servers whose certificates are of a public CA.
inline constexpr const char* kSystemCa = "/etc/ssl/certs/ca-certificates.crt";

// Reads those that are named. The certificate must be in force, and one of `ca`, which is of a CA;
// the key must be the certificate's and nobody else's to read. The error names the file; never what
// is in it.
Result<TlsTexts> read_tls_files(const TlsFiles& files);

// Of the certificates in a text, which are several while a CA is changed, one must be of a CA and
// in force. `what` stands for a file's name.
Status check_authorities(const std::string& pem, const std::string& what);

// Of a server: the file of the CAs by which others believe it, its `ca` if one of those has issued
// its certificate, else that of the machine.
Result<std::string> ca_that_vouches(const TlsFiles& server);

// Whether the key is that of the first certificate; both in PEM.
bool do_belong_together(const std::string& key, const std::string& certificate);

// A sentence for each certificate of `ca` that is out of date, beside one that is not.
std::vector<std::string> warnings_of(const TlsFiles& files);

}  // namespace hai
