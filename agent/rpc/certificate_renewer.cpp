#include "agent/rpc/certificate_renewer.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "agent/rpc/certificate_calls.h"
#include "agent/rpc/node_files.h"
#include "common/log.h"
#include "common/tls/certificate.h"
#include "common/tls/request.h"

namespace hai {
namespace {

constexpr Duration kLookPeriod = 10min;  // somebody else may replace the files
constexpr Duration kPollPeriod = 100ms;  // of a renewal that is under way

}  // namespace

UnixTime renewal_due(UnixTime begins, UnixTime ends, Rng& rng) {
  const Duration life = std::max<Duration>(ends - begins, Duration(0));
  return begins + life * 2 / 3 - Duration(rng.between(0, (life / 20).count()));
}

Duration renewal_pause(int failures, Duration life, Duration left) {
  Duration pause = life / 100;
  for (int i = 1; i < failures && pause < Duration(1h); ++i) pause *= 2;
  const Duration most = std::min<Duration>(1h, std::max<Duration>(left / 10, 0s));
  return std::max<Duration>(std::min(pause, most), 1s);
}

Status renew_certificate(const CertificateRenewerOptions& options) {
  const Result<TlsTexts> now = read_tls_files(options.files);
  RETURN_IF_ERROR(now.status());
  const Result<KeyAndRequest> made = make_request(options.node);
  RETURN_IF_ERROR(made.status());
  Status last = unavailable("no server to ask");
  for (const std::string& server : options.servers) {
    const Result<NodeCertificateReply> reply =
        call_renew(server, now.value(), made.value().request);
    if (!reply.is_ok()) {
      // That one of them does not lead is no reason to tell.
      const bool says_more = reply.status().code() != Code::unavailable;
      if (says_more || last.code() == Code::unavailable) last = reply.status();
      continue;
    }
    RETURN_IF_ERROR(check_reply(reply.value(), options.node, made.value().key));
    return keep_reply(options.files, reply.value(), made.value().key,
                      authorities_to_keep(reply.value(), now.value().ca, options.servers));
  }
  return last;
}

// Outlives the renewer if it must.
struct CertificateRenewer::Shared {
  std::mutex mutex;
  std::optional<Status> ended;
};

CertificateRenewer::CertificateRenewer(Loop& loop, CertificateRenewerOptions options)
    : loop_(loop), options_(std::move(options)), rng_(options_.seed) {}

CertificateRenewer::~CertificateRenewer() { loop_.cancel(timer_); }

void CertificateRenewer::look_later(Duration pause) {
  timer_ = loop_.call_after(pause, [this] {
    timer_ = 0;
    look();
  });
}

void CertificateRenewer::look() {
  const Result<TlsTexts> texts = read_tls_files(options_.files);
  // The link says what is wrong with them, and asks again.
  if (!texts.is_ok()) return look_later(kLookPeriod);
  if (texts.value().certificate != certificate_) {
    certificate_ = texts.value().certificate;
    const CertificateFacts facts = read_certificate(certificate_).value();
    begins_ = facts.begins;
    ends_ = facts.ends;
    due_ = renewal_due(begins_, ends_, rng_);
    failures_ = 0;
  }
  const Duration left = due_ - loop_.wall_now();
  if (left > Duration(0)) return look_later(std::min(left, kLookPeriod));
  renew();
}

void CertificateRenewer::renew() {
  shared_ = std::make_shared<Shared>();
  try {
    std::thread([shared = shared_, options = options_] {
      const auto& renew = options.renew ? options.renew : renew_certificate;
      Status status = renew(options);
      const std::lock_guard lock(shared->mutex);
      shared->ended = std::move(status);
    }).detach();
  } catch (const std::system_error& error) {
    return ended(unavailable("no thread to ask servers on: {}", error.what()));
  }
  wait_for_end();
}

void CertificateRenewer::wait_for_end() {
  timer_ = loop_.call_after(kPollPeriod, [this] {
    timer_ = 0;
    std::optional<Status> status;
    {
      const std::lock_guard lock(shared_->mutex);
      status = shared_->ended;
    }
    status ? ended(*status) : wait_for_end();
  });
}

void CertificateRenewer::ended(const Status& status) {
  shared_ = nullptr;
  if (status.is_ok()) {
    failures_ = 0;
    certificate_ = "";
    log_info("certificate_renewed", {{"node", options_.node}});
    return look_later(1s);
  }
  ++failures_;
  const Duration pause = renewal_pause(failures_, ends_ - begins_, ends_ - loop_.wall_now());
  log_warning(
      "certificate_not_renewed",
      {{"reason", status}, {"ends", format_rfc3339(ends_)}, {"again_in", format_duration(pause)}});
  due_ = loop_.wall_now() + pause;
  look_later(pause);
}

}  // namespace hai
