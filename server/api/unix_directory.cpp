#include "server/api/unix_directory.h"

#include <utility>

#include "server/api/unix_groups_reader.h"

namespace hai {

UnixDirectory::UnixDirectory(Loop& loop, Controller& controller, AccountChanges& accounts,
                             UnixGroupsConfig config)
    : reader_(config.is_used() ? std::make_unique<UnixGroupsReader>(loop, config.named())
                               : nullptr),
      refresh_({.loop = loop,
                .controller = controller,
                .accounts = accounts,
                .config = std::move(config),
                .ask = [this](const std::string& user, Done<std::vector<std::string>> done) {
                  reader_->read(user, std::move(done));
                }}) {}

UnixDirectory::~UnixDirectory() = default;

void UnixDirectory::start() {
  if (reader_) refresh_.start();
}

void UnixDirectory::stop() { refresh_.stop(); }

void UnixDirectory::look_up(const std::string& user, bool may_be_new,
                            const std::function<void()>& done) {
  reader_ ? refresh_.look_up(user, may_be_new, done) : done();
}

}  // namespace hai
