#pragma once
// Gets an image for a rank: from the store, or with skopeo(1) from its registry or file and with
// umoci(1) unpacked into the store. One at a time per image and where it comes from; others that
// want it from there wait for it.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "agent/os/image_file.h"
#include "agent/shim/rank_user.h"
#include "common/image.h"

namespace hai {

// `reader`: whose job it is; with his rights are read the images that he named by a path. Says what
// is being done, a line each, when it takes long. Its errors are in the file.
ImageFile get_image(const std::string& name, const ImageSettings& settings, const RankUser& reader,
                    const std::function<void(const std::string&)>& say);

}  // namespace hai
