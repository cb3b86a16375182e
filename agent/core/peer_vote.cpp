#include "agent/core/peer_vote.h"

#include <algorithm>

namespace hai {

PeerVote::PeerVote(Loop& loop, PeerPort& port, std::function<void(MonoTime)> nobody_leads)
    : loop_(loop), port_(port), nobody_leads_(std::move(nobody_leads)), timer_(loop) {}

void PeerVote::ask(std::vector<Peer> peers) {
  peers_ = std::move(peers);
  if (!is_asking()) begin_round();
}

void PeerVote::stop() {
  timer_.cancel();
  answers_.clear();
}

void PeerVote::answered(int64_t round, const std::string& node, LeaseAnswer answer) {
  if (!is_asking() || round != round_) return;
  if (std::ranges::find(peers_, node, &Peer::node) == peers_.end()) return;
  // Of two answers of a round the worse counts: its lease may have been renewed in between.
  LeaseAnswer& known = answers_.try_emplace(node, answer).first->second;
  if (answer == LeaseAnswer::alive) known = answer;
}

void PeerVote::begin_round() {
  ++round_;
  asked_at_ = loop_.now();
  answers_.clear();
  timer_.arm(kRoundTime, [this] { end_round(); });
  port_.ask(round_, peers_);
}

void PeerVote::end_round() {
  const auto count = [&](LeaseAnswer answer) {
    return std::ranges::count_if(answers_, [&](const auto& each) { return each.second == answer; });
  };
  const auto majority = static_cast<ptrdiff_t>(peers_.size() / 2 + 1);
  const bool nobody = count(LeaseAnswer::alive) == 0 && count(LeaseAnswer::dead) >= majority;
  const MonoTime asked_at = asked_at_;
  begin_round();
  if (nobody) nobody_leads_(asked_at);
}

}  // namespace hai
