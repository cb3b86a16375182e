#pragma once
// One end of somebody's way into a rank: a person's stream of gRPC or that of the rank's agent.
// gRPC's threads only post; everything else is on the loop's thread. Owns itself until gRPC is done
// with it.

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/loop.h"
#include "common/status.h"
#include "hai/v1/shell.grpc.pb.h"
#include "server/api/shell_peer.h"

namespace hai {

class StandingBoard;

class ShellStream final : public grpc::ServerBidiReactor<v1::ShellMessage, v1::ShellMessage>,
                          public ShellPeer,
                          public std::enable_shared_from_this<ShellStream> {
 public:
  static constexpr Duration kDrainTimeout = 2s;

  // `standing`: who is refused is told where the leader is; null = he is not.
  ShellStream(Loop& loop, grpc::CallbackServerContext& context, const StandingBoard* standing)
      : loop_(loop), context_(context), standing_(standing) {}

  // On a gRPC thread, at once after construction; `opened` is called on the loop's thread and gives
  // the stream its events.
  void begin(std::function<Events(std::shared_ptr<ShellStream>)> opened);

  void read_next() override;
  void send(v1::ShellMessage message, std::function<void()> written) override;
  // The other side has kDrainTimeout for what is being sent.
  void finish(const Status& status) override;

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
