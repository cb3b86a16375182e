#pragma once
// Lets another thread end the call that a client is in. Only for client_wire.h: it brings gRPC's
// headers.

#include <grpcpp/client_context.h>

#include <mutex>

namespace hai::cli {

class Stopper {
 public:
  // From any thread; for good.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  bool is_stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  // While it lives, `context` is the call that stop() ends.
  class Call {
   public:
    Call(Stopper& stopper, grpc::ClientContext& context) : stopper_(stopper) {
      const std::lock_guard lock(stopper_.mutex_);
      stopper_.call_ = &context;
      if (stopper_.stopped_) context.TryCancel();
    }
    ~Call() {
      const std::lock_guard lock(stopper_.mutex_);
      stopper_.call_ = nullptr;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Stopper& stopper_;
  };

 private:
  mutable std::mutex mutex_;
  grpc::ClientContext* call_ = nullptr;
  bool stopped_ = false;
};

}  // namespace hai::cli
