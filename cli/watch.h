#pragma once
// -w/--watch: shows a view anew whenever the server tells of a change that could concern it.

#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

class Client;
class Session;

// Calls `render` now and after changes (at most four times a second) and shows its text, on a
// terminal in place of the one before. Ends when `render` or the watch fails for good, or by
// Ctrl-C.
Status watch(Session& session, Client& client, const v1::WatchEventsRequest& filter,
             const std::function<Result<std::string>()>& render);

// Instead of what was shown before, if the terminal can; as much of it as fits.
void show_in_place(const Session& session, const std::string& text);
// The same as bytes: each line wiped and written, so that nothing flickers.
std::string in_place(std::string_view text, int height);

}  // namespace hai::cli
