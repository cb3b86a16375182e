#include "agent/os/image_file.h"

#include <nlohmann/json.hpp>

#include "agent/os/files.h"

namespace hai {

namespace {

using Json = nlohmann::json;
constexpr size_t kImageFileBytesMax = 4 << 20;

Json devices_to_json(const ImageDevices& devices) {
  Json mounts = Json::array();
  for (const ImageMount& mount : devices.mounts)
    mounts.push_back({{"from", mount.from}, {"to", mount.to}, {"ro", mount.is_read_only}});
  Json links = Json::array();
  for (const ImageLink& link : devices.links)
    links.push_back({{"path", link.path}, {"target", link.target}});
  return {{"environment", devices.environment},
          {"mounts", mounts},
          {"links", links},
          {"library_folder", devices.library_folder}};
}

// A hai-image of before wrote none.
ImageDevices devices_from_json(const Json& image) {
  ImageDevices devices;
  if (!image.contains("devices")) return devices;
  const Json& json = image.at("devices");
  devices.environment = json.at("environment").get<Environment>();
  for (const Json& mount : json.at("mounts")) {
    devices.mounts.push_back({.from = mount.at("from").get<std::string>(),
                              .to = mount.at("to").get<std::string>(),
                              .is_read_only = mount.at("ro").get<bool>()});
  }
  for (const Json& link : json.at("links")) {
    devices.links.push_back({.path = link.at("path").get<std::string>(),
                             .target = link.at("target").get<std::string>()});
  }
  devices.library_folder = json.at("library_folder").get<std::string>();
  return devices;
}

}  // namespace

std::string image_file_to_json(const ImageFile& image) {
  const Json json = {{"folder", image.folder},
                     {"lock", image.lock},
                     {"environment", image.environment},
                     {"devices", devices_to_json(image.devices)},
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
                     .devices = devices_from_json(json),
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
