#pragma once
// What is looked at closely, and what is done to jobs: calls that may take long, each on a thread
// of its own that ends when nobody wants the answer any more.

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/top/data.h"
#include "cli/top/view.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::top {

class Inspector {
 public:
  using PostDetail = std::function<void(Detail)>;
  using PostAnswer = std::function<void(std::string)>;
  Inspector(const Client& client, PostDetail post_detail, PostAnswer post_answer);
  ~Inspector();

  // The card, why it waits, and the end of its log, which goes on as the job writes. Ends what was
  // looked at before. Parts of the answer are posted as they come.
  void look_at_job(int64_t job, int rank, int width);
  void look_at_node(const std::string& node, int width);
  void look_away();
  void control(int64_t job, v1::JobAction action);

 private:
  // One call's client and its thread.
  struct Task {
    std::unique_ptr<Client> client;
    std::thread thread;
    bool must_finish = false;  // what was asked for is done even if nobody waits for the answer
    ~Task();
  };
  std::unique_ptr<Task> start(std::function<void(Client&)> run) const;

  const std::unique_ptr<Client> origin_;
  const PostDetail post_detail_;
  const PostAnswer post_answer_;
  std::unique_ptr<Task> looking_;
  std::vector<std::unique_ptr<Task>> controlling_;
};

}  // namespace hai::cli::top
