#pragma once
// The key `images` of the agent's config.

#include "agent/os/image_file.h"
#include "common/config/yaml_reader.h"

namespace hai {

// `data_dir`: in which images are kept.
void read_images(YamlReader& reader, const std::string& data_dir, ImageSettings* out);

// What this process's environment says of proxies, credentials and registries, for skopeo.
Environment environment_of_skopeo();

}  // namespace hai
