#include "server/api/munge_reader.h"

#include <munge.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "server/api/question_worker.h"
#include "server/directory/unix_account.h"

namespace hai {
namespace {

struct FreeContext {
  void operator()(munge_ctx_t context) const { ::munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<munge_ctx, FreeContext>;

Result<std::string> name_of(uid_t uid) {
  Result<std::string> name = unix_name_of(uid);
  if (name.status().code() != Code::not_found) return name;
  return permission_denied("no account here has the uid {} of the munge credential", uid);
}

// Waits for munged.
Result<std::string> user_of(const std::string& credential, const std::string& socket) {
  const Context context(::munge_ctx_create());
  if (!context) return Status(Code::internal, "no memory for munge");
  if (!socket.empty()) ::munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket.c_str());
  void* data = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const munge_err_t error =
      ::munge_decode(credential.c_str(), context.get(), &data, &size, &uid, &gid);
  const std::string payload(static_cast<const char*>(data), data == nullptr ? 0 : size);
  std::free(data);
  if (error == EMUNGE_SOCKET || error == EMUNGE_TIMEOUT) {
    return unavailable("munged does not answer: {}", ::munge_strerror(error));
  }
  if (error != EMUNGE_SUCCESS) {
    return unauthenticated("the munge credential is refused: {}", ::munge_strerror(error));
  }
  if (payload != MungeReader::kPayload) {
    return unauthenticated("the munge credential was not made for hai");
  }
  return name_of(uid);
}

}  // namespace

struct MungeReader::Impl {
  Loop& loop;
  const std::string socket;
  QuestionWorker worker;  // last: it uses all above
};

MungeReader::MungeReader(Loop& loop, std::string socket)
    : impl_(new Impl{.loop = loop, .socket = std::move(socket), .worker = {}}) {}

MungeReader::~MungeReader() = default;

void MungeReader::read(std::string credential, Done done) {
  const bool is_taken =
      impl_->worker.post([impl = impl_.get(), credential = std::move(credential), done] {
        Result<std::string> user = user_of(credential, impl->socket);
        impl->loop.post([done, user = std::move(user)] { done(user); });
      });
  if (!is_taken) done(resource_exhausted("too many munge credentials are being read already"));
}

}  // namespace hai
