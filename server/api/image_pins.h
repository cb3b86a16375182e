#pragma once
// Which image a name stands for at the moment of a submit: asks the registry for its digest, with
// skopeo(1), so that all ranks of a job, and all its attempts, run in the same. What a registry
// said holds for half a minute: a thousand submits at once are one question. Whoever submits names
// the host and port that the server asks, so that he is told no more of what is there than whether
// a registry has the image.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "common/image.h"
#include "common/loop.h"
#include "common/time.h"
#include "server/api/log_limit.h"
#include "server/api/question_worker.h"
#include "server/api/source.h"

namespace hai {

class ImagePins {
 public:
  struct Settings {
    std::vector<std::string> registries;  // whose images jobs may have; none = all
    Duration patience{10s};               // with a registry
  };
  ImagePins(Loop& loop, Settings settings);
  // Whose images jobs may have from now on; none = all.
  void set_registries(std::vector<std::string> registries) {
    settings_.registries = std::move(registries);
  }

  // Answers on the loop's thread, where it is called: the name with its digest, or why there is no
  // such image. One that is pinned, or is not of a registry, is as it was. `user`: whose job it is.
  void pin(const std::string& image, const std::string& user, Done<std::string> done);

 private:
  struct Pinned {
    std::string name;
    MonoTime at;
  };
  void ask(const ImageName& image, const std::string& user);
  void answer(const std::string& image, const Result<std::string>& pinned);
  void note_refusal(const std::string& image, const std::string& user, const std::string& said);
  const Pinned* recent(const std::string& image) const;
  bool is_silent(const std::string& registry) const;

  Loop& loop_;
  Settings settings_;
  LogLimit refusals_{10};
  std::map<std::string, Pinned> pinned_;
  std::map<std::string, MonoTime> silent_until_;  // registries that did not answer
  std::map<std::string, std::vector<Done<std::string>>> waiting_;
  // One that does not answer holds up those only that share its thread.
  std::array<QuestionWorker, 4> workers_;  // last: they use all above
};

}  // namespace hai
