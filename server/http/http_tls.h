#pragma once
// What the HTTP port proves by, and a newer one when the files have changed. On the HTTP server's
// thread.

#include <boost/asio/ssl/context.hpp>
#include <ctime>
#include <memory>
#include <vector>

#include "common/status.h"
#include "common/tls/tls_files.h"

namespace hai {

class HttpTls {
 public:
  static Result<std::unique_ptr<HttpTls>> open(const TlsFiles& files);

  // Looks whether the files have changed. Connections of before keep what they began with; files
  // that are no good are said and leave things as they were.
  void take_changes();
  std::shared_ptr<boost::asio::ssl::context> context() const { return context_; }

 private:
  struct Stamp {  // of a file
    std::timespec changed{};
    unsigned long inode = 0;
    bool operator==(const Stamp& other) const {
      return inode == other.inode && changed.tv_sec == other.changed.tv_sec &&
             changed.tv_nsec == other.changed.tv_nsec;
    }
  };
  explicit HttpTls(TlsFiles files) : files_(std::move(files)) {}
  Status load();
  std::vector<Stamp> look() const;

  const TlsFiles files_;
  std::vector<Stamp> seen_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace hai
