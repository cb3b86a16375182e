#pragma once
// Asks munged whose credential it is: a daemon that the machines of a site have in common, which
// makes credentials for whoever asks on its machine and reads those of the others. Each is read
// once (munged sees to it) and holds for some minutes.

#include <functional>
#include <memory>
#include <string>

#include "common/loop.h"
#include "common/status.h"

namespace hai {

class MungeReader {
 public:
  // What a credential must hold, so that one made for another program lets nobody in here.
  static constexpr std::string_view kPayload = "hai sign-in";
  using Done = std::function<void(Result<std::string>)>;

  // `socket` of munged; "" = where it usually is.
  MungeReader(Loop& loop, std::string socket);
  ~MungeReader();

  // Answers on the loop's thread with the name of the Unix user who made the credential.
  void read(std::string credential, Done done);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hai
