#pragma once
// Renews this node's certificate at two thirds of its life, with a new key, and takes the CAs that
// the cluster believes then; again and again when that fails. What is open goes on under the old
// certificate. Lives on the loop's thread; asks servers and replaces files on one of its own, which
// nobody waits for.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/loop.h"
#include "common/rng.h"
#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai {

// When to renew a certificate that holds from `begins` to `ends`: at two thirds, up to a twentieth
// of its life earlier, so that nodes that joined together do not come together.
UnixTime renewal_due(UnixTime begins, UnixTime ends, Rng& rng);
// After so many failures in a row, at least one: first a hundredth of its life, then twice as long
// each time, between a second and an hour, and never more than a tenth of what is left.
Duration renewal_pause(int failures, Duration life, Duration left);

struct CertificateRenewerOptions {
  std::vector<std::string> servers;
  TlsFiles files;
  std::string node;
  uint64_t seed = 1;
  // Does it all, on a thread of its own.
  std::function<Status(const CertificateRenewerOptions&)> renew;  // null = as renew_certificate()
};

// Asks the servers in turn and replaces the files.
Status renew_certificate(const CertificateRenewerOptions& options);

class CertificateRenewer {
 public:
  CertificateRenewer(Loop& loop, CertificateRenewerOptions options);
  ~CertificateRenewer();

  void start() { look(); }
  // Whom it asks from now on.
  void set_servers(std::vector<std::string> servers) { options_.servers = std::move(servers); }

 private:
  struct Shared;
  void look();  // whether it is time
  void renew();
  void wait_for_end();
  void ended(const Status& status);
  void look_later(Duration pause);

  Loop& loop_;
  CertificateRenewerOptions options_;
  Rng rng_;
  std::shared_ptr<Shared> shared_;  // with the thread; null = there is none
  std::string certificate_;         // that `due_` is about
  UnixTime begins_{};
  UnixTime ends_{};
  UnixTime due_{};
  int failures_ = 0;
  TimerId timer_ = 0;
};

}  // namespace hai
