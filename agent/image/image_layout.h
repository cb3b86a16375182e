#pragma once
// An image as skopeo copies it: a folder in the OCI layout (image-spec 1.0).

#include <string>

#include "agent/core/environment.h"
#include "common/status.h"

namespace hai {

// Moves the files of a layout that its user may still change into a folder of ours, which is made.
// Only plain files that have no other name go along, whatever links he puts there meanwhile; what
// is in them is checked by who reads them, by their digests.
Status take_layout(const std::string& from, const std::string& to);

// What the image `image` of the layout sets. At most 256 KiB; else not_found.
Status read_image_environment(const std::string& layout, Environment& out);

}  // namespace hai
