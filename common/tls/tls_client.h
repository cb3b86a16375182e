#pragma once
// A short conversation with a server over TLS: blocks, but for no longer than it was told. For
// commands that ask one question over HTTPS, and for whoever wants to know why gRPC cannot reach a
// server, which it does not say.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"

namespace hai {

struct TlsDial {
  std::string address;    // host:port
  TlsTexts texts;         // `ca` is whom to believe
  Duration timeout = 5s;  // of the whole conversation, from looking the name up to the last byte
  bool is_grpc = false;   // what is to be spoken: HTTP/2, or HTTP/1.1
  bool is_blind = false;  // believes anybody: to look at what he shows, and for nothing else
};

// Made, used and destroyed on one thread.
class TlsClient {
 public:
  // `unavailable` if nobody answers there; `failed_precondition` if he does not speak TLS;
  // `permission_denied` if he is not believed, with why and what to do.
  static Result<std::unique_ptr<TlsClient>> connect(const TlsDial& dial);
  ~TlsClient();

  Status send(std::string_view text);
  // Until the server ends the connection, or `bytes_max` have come.
  Result<std::string> read_all(size_t bytes_max);
  // Until the server says anything. In TLS 1.3 it judges our certificate only after our handshake
  // has ended: this is where one that is not believed is noticed (`permission_denied`).
  Status hear();
  // The certificates that the server has shown, its own first, in PEM.
  std::vector<std::string> shown() const;

 private:
  struct Impl;
  explicit TlsClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The certificate, in PEM, of the CA that has one of these fingerprints (SHA-256, in hexadecimal),
// out of those that a server shows with its own. Nothing is believed and nothing said: who dials
// again, believing this CA only, knows that the server is of it. `permission_denied` if it shows
// none.
Result<std::string> authority_shown_by(const std::string& address,
                                       const std::vector<std::string>& fingerprints);

// Why gRPC does not come to terms with a server that is there: dials it once more, by ourselves,
// for the reason, with or without TLS. ok if that is not the reason, or nothing is wrong now.
Status why_no_grpc(const std::string& address, const TlsTexts& texts);

}  // namespace hai
