#include "agent/image_config.h"

#include <array>
#include <cstdlib>

namespace hai {

namespace {

constexpr auto kVariables = std::to_array<const char*>(
    {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
     "REGISTRY_AUTH_FILE", "HOME", "XDG_CONFIG_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"});

void read_folders(YamlReader& reader, const char* key, std::vector<std::string>* out) {
  if (!reader.strings(key, out)) return;
  for (std::string& path : *out) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (!path.starts_with('/'))
      reader.fail(key, fmt::format("must be absolute paths, has {}", path));
  }
}

bool is_kind(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find_first_of("/= \t\n", slash + 1) == std::string_view::npos;
}

}  // namespace

void read_images(YamlReader& reader, const std::string& data_dir, ImageSettings* out) {
  out->store = data_dir + "/images";
  reader.bytes("images.keep", &out->bytes_max, {.low = 0, .high = int64_t{1} << 60});
  reader.duration("images.patience", &out->patience, {.low = 1s, .high = 1h});
  read_folders(reader, "images.mounts", &out->mounts);
  read_folders(reader, "images.allowed_mounts", &out->allowed_mounts);
  read_folders(reader, "images.cdi", &out->cdi);
  const char* gpu_device = "images.gpu_device";
  if (reader.string(gpu_device, &out->gpu_device) && !is_kind(out->gpu_device))
    reader.fail(gpu_device, "must be VENDOR/CLASS, such as nvidia.com/gpu");
}

Environment environment_of_skopeo() {
  Environment environment;
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return environment;
}

}  // namespace hai
