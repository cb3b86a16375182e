#pragma once
// What people ask about the images that nodes keep: `hai images`. It goes the way of shells, to a
// node instead of a rank, and runs hai-image there. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "server/control/command.h"

namespace hai {

// "images/NODE" in place of a job's name is the node's; names of jobs have no slash.
std::optional<std::string> node_of_images(std::string_view job);

// The words are "list", "pull IMAGE" or "prune [--keep SIZE]". Who changes what nodes keep must be
// an operator; so must who lists, unless everybody sees what others run (`all_see_all`).
Status check_image_words(const std::vector<std::string>& words, const Actor& actor,
                         bool all_see_all);

// Of checked words: the image to be pulled; "" = none.
std::string image_to_pull(const std::vector<std::string>& words);

}  // namespace hai
