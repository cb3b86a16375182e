#pragma once
// Keeps the data of `hai top` as new as the server's: the event stream says which jobs and nodes
// have changed, and only those are asked for again; many at once in pages. Nothing is asked while
// nothing happens. Two threads: one reads events, one asks.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/top/data.h"
#include "common/status.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::top {

// Everything, as it is now.
Result<News> load_all(Client& client);

class Feed {
 public:
  using Post = std::function<void(News)>;
  // `client` is cloned. `after_seq`: events up to it are known.
  Feed(const Client& client, int64_t after_seq, Post post);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Waiting jobs on the screen: why they wait changes with any event, not only their own.
  void set_waiting_shown(std::vector<int64_t> jobs);

 private:
  struct Changed {
    std::set<int64_t> jobs;
    std::set<std::string> nodes;
    bool any = false;
    bool places = false;  // who is on which node
    bool everything = false;
  };

  void read_events(int64_t after_seq);
  void ask();
  Result<News> news_of(const Changed& changed);
  bool wait_for_change(Duration pause, Changed& changed);
  bool rest(Duration time);  // false: it is over
  void note(const Changed& changed);

  const std::unique_ptr<Client> events_;
  const std::unique_ptr<Client> asking_;
  const Post post_;

  std::mutex mutex_;
  std::condition_variable wakes_;
  Changed changed_;
  std::vector<int64_t> waiting_shown_;
  bool is_over_ = false;

  std::thread reader_;
  std::thread asker_;
};

}  // namespace hai::cli::top
