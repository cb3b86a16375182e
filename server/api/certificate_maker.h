#pragma once
// Makes nodes' certificates with the cluster's CA: reads its files each time, so that what was
// replaced holds from the next one on, and signs on a thread of its own, so many a second, since a
// whole cluster may ask at once.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/loop.h"
#include "common/status.h"
#include "common/tls/authority.h"
#include "common/tls/authority_folder.h"

namespace hai {

class CertificateMaker {
 public:
  static constexpr int kPerSecond = 200;
  static constexpr size_t kWaitingMax = 2'000;  // ten seconds' worth: a node waits for longer

  // `believed`: the file of the CAs that agents' certificates must be of.
  CertificateMaker(Loop& loop, const std::string& folder, std::string believed);
  ~CertificateMaker();  // after the one at hand; what waits is dropped
  CertificateMaker(const CertificateMaker&) = delete;
  CertificateMaker& operator=(const CertificateMaker&) = delete;

  struct Order {
    std::string node;
    std::string request;  // PEM
    Validity validity;
  };
  struct Made {
    IssuedCertificate issued;
    std::string authorities;  // PEM: all that the cluster believes
  };
  using Done = std::function<void(Result<Made>)>;
  // On the loop's thread; `done` is called there, later. resource_exhausted if too many wait.
  void make(Order order, Done done);

 private:
  struct Task {
    Order order;
    Done done;
  };
  void run();
  Result<Made> make_now(const Order& order) const;

  Loop& loop_;
  const AuthorityFolder folder_;
  const std::string believed_;
  // What is done after this has gone, nobody wants to know.
  const std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace hai
