#include "agent/os/image_file.h"

#include <nlohmann/json.hpp>

#include "agent/os/files.h"

namespace hai {

namespace {

using Json = nlohmann::json;
constexpr size_t kImageFileBytesMax = 4 << 20;

}  // namespace

std::string image_file_to_json(const ImageFile& image) {
  const Json json = {{"folder", image.folder},
                     {"lock", image.lock},
                     {"environment", image.environment},
                     {"error", image.error},
                     {"is_of_the_node", image.is_of_the_node}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ImageFile> image_file_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return ImageFile{.folder = json.at("folder").get<std::string>(),
                     .lock = json.at("lock").get<std::string>(),
                     .environment = json.at("environment").get<Environment>(),
                     .error = json.at("error").get<std::string>(),
                     .is_of_the_node = json.at("is_of_the_node").get<bool>()};
  } catch (const std::exception& error) {
    return invalid_argument("not an image file: {}", error.what());
  }
}

Result<ImageFile> read_image_file(const std::string& path) {
  const Result<std::string> text = read_file(path, kImageFileBytesMax);
  RETURN_IF_ERROR(text.status());
  return image_file_from_json(text.value());
}

}  // namespace hai
