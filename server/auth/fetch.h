#pragma once
// Requests to another server over HTTPS: one at a time, bounded in time and size, whatever the
// other side does. For threads of their own: it waits.

#include <atomic>
#include <map>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

struct FetchRequest {
  std::string url;
  std::map<std::string, std::string> form = {};  // sent with POST; empty = GET
  std::string authorization = {};                // the header's value; "" = none
};
struct FetchReply {
  int status = 0;
  std::string body;
};

class Fetcher {
 public:
  virtual ~Fetcher() = default;
  // Unavailable if the other side gave no answer that counts. Redirections are answers, and not
  // followed.
  virtual Result<FetchReply> fetch(const FetchRequest& request) = 0;
  // From any thread: the request under way and all later ones end at once.
  virtual void stop() {}
};

// https://, or http:// to this machine. What is asked there is a secret or is believed.
Status check_secure_url(std::string_view url);

// With libcurl.
class CurlFetcher final : public Fetcher {
 public:
  // `ca_file`: whom it believes, in PEM; "" = whom the machine believes.
  explicit CurlFetcher(std::string ca_file);
  Result<FetchReply> fetch(const FetchRequest& request) override;
  void stop() override { is_stopping_ = true; }

 private:
  const std::string ca_file_;
  std::atomic<bool> is_stopping_ = false;
};

std::string percent_encode(std::string_view text);

}  // namespace hai
