#include "sim/explore/explorer.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "common/rng.h"
#include "sim/explore/memory_image.h"
#include "sim/explore/small_world.h"
#include "sim/explore/visited.h"

namespace hai {
namespace {

constexpr size_t kArenaBytes = size_t{256} << 20;
constexpr size_t kDepthMax = 20'000;
constexpr uint64_t kProgressSteps = 100'000;
constexpr uint64_t kDoubtEach = 64;
// Before anything may be gone back to, so that whatever is made once has been made.
constexpr int kRehearsals = 20;
constexpr int kRehearsalSteps = 400;

void rehearse(const Model& model) {
  Rng rng(1);
  for (int i = 0; i < kRehearsals; ++i) {
    SmallWorld world(model);
    for (int step = 0; step < kRehearsalSteps && !world.violation(); ++step) {
      std::vector<Step> steps = world.steps();
      if (steps.empty()) break;
      world.fingerprint();
      world.take(rng.pick(steps));
    }
  }
}

}  // namespace

class Explorer::Search {
 public:
  Search(const Explorer& explorer, const ExploreLimits& limits, bool by_depth)
      : explorer_(explorer),
        limits_(limits),
        by_depth_(by_depth),
        visited_(by_depth),
        arena_(kArenaBytes) {}
  ~Search() {
    if (world_ == nullptr) return;
    const Arena::Use use(arena_);
    delete world_;
  }

  // Paths of `depth_max` steps and more are not followed.
  ExploreResult run(size_t depth_max) {
    rehearse(explorer_.model_);
    begun_ = explorer_.seconds();
    {
      const Arena::Use use(arena_);
      world_ = new SmallWorld(explorer_.model_);
    }
    depth_max_ = depth_max;
    visited_.insert(world_->fingerprint(), world_->budget().packed(), 0);
    enter();
    while (!frames_.empty() && !is_out_of_bounds()) {
      advance();
      if (result_.violation && !by_depth_) break;
    }
    result_.is_exhausted = frames_.empty();
    result_.states = visited_.count();
    result_.seconds = explorer_.seconds() - begun_;
    return result_;
  }

 private:
  struct Frame {
    std::vector<Step> steps;
    size_t next = 0;
    uint64_t fingerprint = 0;
  };

  bool is_out_of_bounds() {
    if (result_.steps >= next_progress_) {
      next_progress_ += kProgressSteps;
      result_.states = visited_.count();
      result_.seconds = explorer_.seconds() - begun_;
      if (explorer_.progress) explorer_.progress(result_);
      if (result_.seconds > limits_.seconds_max) return true;
    }
    return visited_.count() >= limits_.states_max;
  }

  // The world stands in a new state.
  void enter(uint64_t fingerprint = 0) {
    Frame frame{.steps = world_->steps(), .fingerprint = fingerprint};
    result_.image_bytes = std::max(result_.image_bytes, arena_.used());
    result_.depth = std::max(result_.depth, frames_.size());
    if (frame.steps.empty()) ++result_.ends;
    if (frame.steps.size() > 1) {
      if (images_.size() <= frames_.size()) images_.resize(frames_.size() + 1);
      arena_.save(images_[frames_.size()]);
    }
    frames_.push_back(std::move(frame));
  }

  void advance() {
    Frame& frame = frames_.back();
    if (frame.next == frame.steps.size() || frames_.size() >= depth_max_) {
      frames_.pop_back();
      return;
    }
    if (frame.next > 0) arena_.restore(images_[frames_.size() - 1]);
    const Step step = frame.steps[frame.next++];
    ++result_.steps;
    {
      const Arena::Use use(arena_);
      world_->take(step);
    }
    if (world_->violation()) return found(std::string(*world_->violation()));
    const uint64_t fingerprint = world_->fingerprint();
    if (visited_.insert(fingerprint, world_->budget().packed(), frames_.size())) {
      return enter(fingerprint);
    }
    ++result_.merged;
    if (world_->is_calm() && is_on_path(fingerprint))
      return found("liveness: it goes round for ever");
    if (!by_depth_ && result_.merged % kDoubtEach == 0 && !is_on_path(fingerprint)) doubt();
  }

  // States that look alike must go on alike: whatever follows this one was visited after the one it
  // was merged with. If not, the fingerprint does not see something that matters.
  void doubt() {
    ++result_.doubts;
    const std::vector<Step> steps = world_->steps();
    if (steps.empty()) return;
    const Step step = steps[result_.doubts % steps.size()];
    {
      const Arena::Use use(arena_);
      world_->take(step);
    }
    if (visited_.has(world_->fingerprint(), world_->budget().packed())) return;
    found("fingerprint: a state goes on in another way than the one it was taken for");
    result_.path.push_back(step);
  }

  bool is_on_path(uint64_t fingerprint) const {
    return std::ranges::any_of(
        frames_, [&](const Frame& frame) { return frame.fingerprint == fingerprint; });
  }

  void found(std::string violation) {
    result_.violation = std::move(violation);
    result_.path.clear();
    for (const Frame& frame : frames_) result_.path.push_back(frame.steps[frame.next - 1]);
    depth_max_ = frames_.size();  // from now on only shorter ones
  }

  const Explorer& explorer_;
  const ExploreLimits limits_;
  const bool by_depth_;  // looks for the shortest path
  Visited visited_;
  Arena arena_;
  SmallWorld* world_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<MemoryImage> images_;  // by depth
  size_t depth_max_ = kDepthMax;
  double begun_ = 0;
  uint64_t next_progress_ = kProgressSteps;
  ExploreResult result_;
};

ExploreResult Explorer::visit_all(const ExploreLimits& limits) const {
  return Search(*this, limits, /*by_depth=*/false).run(kDepthMax);
}

ExploreResult Explorer::shorten(const ExploreResult& found, const ExploreLimits& limits) const {
  ExploreResult shorter = Search(*this, limits, /*by_depth=*/true).run(found.path.size());
  if (shorter.violation) return shorter;
  shorter.violation = found.violation;
  shorter.path = found.path;
  return shorter;
}

namespace {

class Story final : public Listener {
 public:
  void happened(MonoTime at, const std::string& what) override {
    if (!begun_) return;
    // What arrives in time and that time passes is no news.
    if (what.starts_with(">>") && (what.ends_with(" arrives") || what.ends_with("time passes")))
      return;
    const auto seconds = std::chrono::duration<double>(at - *begun_).count();
    lines.push_back(fmt::format("{:7.1f} s  {}", seconds, what));
  }
  void begin(MonoTime at) { begun_ = at; }
  std::vector<std::string> lines;

 private:
  std::optional<MonoTime> begun_;
};

}  // namespace

std::vector<std::string> Explorer::tell(const Path& path) const {
  Story story;
  SmallWorld world(model_, &story);
  story.begin(world.now());
  for (const Step& step : path) {
    world.take(step);
    if (world.violation()) story.happened(world.now(), "VIOLATION: " + *world.violation());
  }
  return story.lines;
}

}  // namespace hai
