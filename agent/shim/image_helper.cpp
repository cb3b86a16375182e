#include "agent/shim/image_helper.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>

#include "agent/os/helper_program.h"
#include "common/machine/spawn.h"

namespace hai {

Result<std::unique_ptr<ImageHelper>> ImageHelper::start(boost::asio::io_context& context,
                                                        const RankDirectory& directory,
                                                        const UserIdentity& user, LogSpool& spool) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return resource_exhausted("cannot make a pipe for hai-image: {}", errno_text(errno));
  }
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  Spawn spawn;
  spawn.open("/dev/null", O_RDONLY, STDIN_FILENO);
  spawn.give(input.get(), STDOUT_FILENO);
  spawn.share(STDOUT_FILENO, STDERR_FILENO);
  const Result<pid_t> pid =
      spawn.run({helper_program("hai-image"), "ensure", "--rank", directory.path, "--user",
                 fmt::format("{}:{}:{}", user.uid, user.gid, fmt::join(user.groups, ","))});
  RETURN_IF_ERROR(pid.status());
  return std::unique_ptr<ImageHelper>(
      new ImageHelper(pid.value(), OutputPipe(context, std::move(output), spool, [] {})));
}

}  // namespace hai
