#pragma once
// What a registry says of an image before it is fetched (image-spec 1.0 and docker's like it).

#include <cstdint>
#include <string>
#include <string_view>

namespace hai {

struct ImageManifest {
  int64_t bytes = 0;   // of what is to be fetched; 0 = it does not say
  std::string digest;  // of an index: that of the manifest for this architecture; "" = it is none
  bool operator==(const ImageManifest&) const = default;
};

// `text` may have other lines before the JSON. `architecture` as Go names it, such as amd64.
ImageManifest read_manifest(std::string_view text, std::string_view architecture);
// That of this machine.
std::string_view own_architecture();

}  // namespace hai
