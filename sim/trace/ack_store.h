#pragma once
// A store that keeps nothing: it answers as one would that never fails, for replays, whose one
// server never restarts. Answers come from the loop, as the contract of Store asks.

#include "common/check.h"
#include "common/loop.h"
#include "server/control/ports.h"

namespace hai {

class AckStore final : public Store {
 public:
  explicit AckStore(Loop& loop) : loop_(loop) {}

  void acquire(Duration lease, Epoch, std::function<void(Result<Term>)> done) override {
    answer_term(lease, std::move(done));
  }
  void renew(Epoch, Duration lease, std::function<void(Result<Term>)> done) override {
    answer_term(lease, std::move(done));
  }
  void release(Epoch, std::function<void()> done) override { loop_.post(std::move(done)); }
  void load(std::function<void(Result<StoredState>)> done) override {
    loop_.post([done = std::move(done)] { done(StoredState{}); });
  }
  void append(AppendBatch batch, std::function<void(Status)> done) override {
    CHECK(batch.epoch == kEpoch && !append_under_way_);
    append_under_way_ = true;
    loop_.post([this, done = std::move(done)] {
      append_under_way_ = false;
      done(ok());
    });
  }

 private:
  static constexpr Epoch kEpoch{1};

  void answer_term(Duration lease, std::function<void(Result<Term>)> done) {
    Term term{.epoch = kEpoch, .valid_until = loop_.now() + lease};
    loop_.post([term, done = std::move(done)] { done(term); });
  }

  Loop& loop_;
  bool append_under_way_ = false;
};

}  // namespace hai
