#include "agent/image/image_manifest.h"

#include <sys/utsname.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/image.h"

namespace hai {

namespace {

using ManifestJson = nlohmann::json;

constexpr int64_t kBytesMax = int64_t{1} << 50;

// A number that a stranger wrote.
int64_t size_in(const ManifestJson& part) {
  const auto size = part.is_object() ? part.find("size") : part.end();
  if (!part.is_object() || size == part.end() || !size->is_number_integer()) return 0;
  return std::clamp<int64_t>(size->get<int64_t>(), 0, kBytesMax);
}

std::string text_in(const ManifestJson& part, const char* name) {
  if (!part.is_object()) return "";
  const auto found = part.find(name);
  return found != part.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string digest_for(const ManifestJson& manifests, std::string_view architecture) {
  for (const ManifestJson& each : manifests) {
    if (!each.is_object()) continue;
    const ManifestJson platform = each.value("platform", ManifestJson::object());
    const std::string digest = text_in(each, "digest");
    if (text_in(platform, "architecture") == architecture && text_in(platform, "os") == "linux" &&
        is_image_digest(digest))
      return digest;
  }
  return "";
}

}  // namespace

ImageManifest read_manifest(std::string_view text, std::string_view architecture) {
  text.remove_prefix(std::min(text.find('{'), text.size()));
  const ManifestJson json = ManifestJson::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  if (const auto manifests = json.find("manifests");
      manifests != json.end() && manifests->is_array())
    return {.bytes = 0, .digest = digest_for(*manifests, architecture)};
  ImageManifest manifest;
  if (const auto config = json.find("config"); config != json.end())
    manifest.bytes = size_in(*config);
  if (const auto layers = json.find("layers"); layers != json.end() && layers->is_array()) {
    for (const ManifestJson& layer : *layers) manifest.bytes += size_in(layer);
  }
  return manifest;
}

std::string_view own_architecture() {
  utsname machine{};
  ::uname(&machine);
  const std::string_view name = machine.machine;
  if (name == "aarch64") return "arm64";
  return name == "x86_64" ? "amd64" : "";
}

}  // namespace hai
