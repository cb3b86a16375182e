#include "server/api/certificate_watch.h"

#include "common/log.h"
#include "common/whole_file.h"

namespace hai {
namespace {

constexpr Duration kLookAgain = 24h;

}  // namespace

void CertificateWatch::start() {
  timer_ = loop_.call_after(kLookAgain, [this] { start(); });
  for (const auto& [of, facts] : read()) {
    if (facts.ends - loop_.wall_now() >= renewal_notice(facts)) continue;
    log_warning("certificate_ends", {{"of", of},
                                     {"file", of == "ca" ? files_.ca : files_.certificate},
                                     {"ends", facts.ends},
                                     {"remedy", "`hai-server doctor` says how to renew it"}});
  }
}

void CertificateWatch::stop() { loop_.cancel(timer_); }

std::map<std::string, CertificateFacts> CertificateWatch::read() const {
  std::map<std::string, CertificateFacts> found;
  for (const auto& [of, file] :
       {std::pair("server", &files_.certificate), std::pair("ca", &files_.ca)}) {
    if (file->empty()) continue;
    const Result<std::string> text = read_whole_file(*file);
    const Result<CertificateFacts> facts = read_certificate(text.is_ok() ? text.value() : "");
    if (facts.is_ok()) found.emplace(of, facts.value());
  }
  return found;
}

}  // namespace hai
