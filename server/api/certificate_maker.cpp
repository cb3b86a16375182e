#include "server/api/certificate_maker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/tls/certificate.h"
#include "common/tls/tls_files.h"

namespace hai {

CertificateMaker::CertificateMaker(Loop& loop, const std::string& folder, std::string believed)
    : loop_(loop), folder_(folder), believed_(std::move(believed)), thread_([this] { run(); }) {}

CertificateMaker::~CertificateMaker() {
  *is_alive_ = false;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CertificateMaker::make(Order order, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() < kWaitingMax) {
      queue_.push_back({std::move(order), std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done(resource_exhausted("{} nodes wait for their certificates already: try again in a moment",
                          kWaitingMax));
}

void CertificateMaker::run() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point next{};
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    changed_.wait_until(lock, next, [this] { return is_stopping_; });
    if (is_stopping_) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    next = Clock::now() + std::chrono::microseconds(1'000'000 / kPerSecond);
    lock.unlock();
    loop_.post([is_alive = is_alive_, done = std::move(task.done), made = make_now(task.order)] {
      if (*is_alive) done(made);
    });
    lock.lock();
  }
}

Result<CertificateMaker::Made> CertificateMaker::make_now(const Order& order) const {
  // First what whoever asks can have done wrong; the rest is for an administrator.
  const Result<KeyAndCertificate> authority = folder_.read();
  if (!authority.is_ok()) return unavailable("tls.authority: {}", authority.status().message());
  Result<IssuedCertificate> issued =
      issue_for_request(authority.value(), order.request, order.node, order.validity);
  RETURN_IF_ERROR(issued.status());
  const Result<TlsTexts> believed = read_tls_files({.ca = believed_});
  if (!believed.is_ok()) return unavailable("tls.client_ca: {}", believed.status().message());
  const Result<std::string> own = own_certificate(authority.value());
  RETURN_IF_ERROR(own.status());
  const std::string issuer = read_certificate(own.value()).value().fingerprint;
  const std::vector<CertificateFacts> all = read_certificates(believed.value().ca);
  if (std::ranges::find(all, issuer, &CertificateFacts::fingerprint) == all.end()) {
    return failed_precondition(
        "the CA of tls.authority is not among those of tls.client_ca: what it issues would not be "
        "believed");
  }
  return Made{.issued = std::move(issued).value(),
              .authorities = joined_certificates(believed.value().ca, "")};
}

}  // namespace hai
