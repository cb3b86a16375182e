#pragma once
// One end of somebody's way into a rank: a person's stream or that of the rank's agent. gRPC's
// threads only post; everything else is on the loop's thread. Owns itself until gRPC is done with
// it. One message at a time each way: who reads the next one only when the last has been written to
// the other end holds back whoever writes faster than the other reads.

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/loop.h"
#include "common/status.h"
#include "hai/v1/shell.grpc.pb.h"

namespace hai {

class StandingBoard;

class ShellStream final : public grpc::ServerBidiReactor<v1::ShellMessage, v1::ShellMessage>,
                          public std::enable_shared_from_this<ShellStream> {
 public:
  struct Events {
    std::function<void(v1::ShellMessage)> message;
    // The other side sends nothing any more, or is gone.
    std::function<void()> ended;
    // Exactly once, last.
    std::function<void()> done;
  };

  static constexpr Duration kDrainTimeout = 2s;

  // `standing`: who is refused is told where the leader is; null = he is not.
  ShellStream(Loop& loop, grpc::CallbackServerContext& context, const StandingBoard* standing)
      : loop_(loop), context_(context), standing_(standing) {}

  // On a gRPC thread, at once after construction; `opened` is called on the loop's thread and gives
  // the stream its events.
  void begin(std::function<Events(std::shared_ptr<ShellStream>)> opened);

  void read_next();
  // `written` is called when it is, unless the stream ends first. One at a time.
  void send(v1::ShellMessage message, std::function<void()> written);
  // After what is being sent, for which the other side has kDrainTimeout. The first call counts.
  void finish(const Status& status);

  // gRPC's threads
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void post(std::function<void()> callback);
  void finish_now();
  void other_side_ended();

  Loop& loop_;
  grpc::CallbackServerContext& context_;  // gRPC's; valid until OnDone
  const StandingBoard* const standing_;
  std::shared_ptr<ShellStream> self_;  // gRPC's share, given back in OnDone
  Events events_;
  v1::ShellMessage reading_;
  v1::ShellMessage writing_;
  std::function<void()> written_;
  std::optional<Status> end_;
  bool read_in_flight_ = false;
  bool write_in_flight_ = false;
  bool has_ended_ = false;
  bool is_finished_ = false;
  TimerId timer_ = 0;
};

}  // namespace hai
