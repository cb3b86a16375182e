#pragma once
// How long the certificates of a server hold: it renews none of them itself, and somebody has to
// know before they end. On the loop's thread.

#include <map>
#include <string>

#include "common/loop.h"
#include "common/tls/certificate.h"
#include "common/tls/tls_files.h"

namespace hai {

class CertificateWatch {
 public:
  CertificateWatch(Loop& loop, TlsFiles files) : loop_(loop), files_(std::move(files)) {}
  ~CertificateWatch() { stop(); }
  CertificateWatch(const CertificateWatch&) = delete;
  CertificateWatch& operator=(const CertificateWatch&) = delete;

  // Warns of each that ends soon, now and once a day.
  void start();
  void stop();
  // "server" (tls.certificate) and "ca" (tls.client_ca): of each file as it is now the first
  // certificate. Without those that are not named or cannot be read.
  std::map<std::string, CertificateFacts> read() const;

 private:
  Loop& loop_;
  const TlsFiles files_;
  TimerId timer_ = 0;
};

}  // namespace hai
