#pragma once
// image.json of a rank's directory: what hai-image found for the shim, and for shells that come
// later.

#include <string>
#include <string_view>
#include <vector>

#include "agent/core/environment.h"
#include "common/image.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

// Of the agent's config, `images`.
struct ImageSettings {
  std::string store;                // where images are kept, root's alone
  int64_t bytes_max = 200LL << 30;  // of images that no rank uses; the least recently used go first
  std::vector<std::string> mounts;  // folders that every job in an image sees, at the same place
  std::vector<std::string> allowed_mounts = {"/"};  // folders in which those that jobs name must be
  Duration patience{5min};                          // with a registry that sends nothing
  std::vector<std::string> cdi = {"/etc/cdi", "/var/run/cdi"};  // folders of CDI files
  std::string gpu_device = "nvidia.com/gpu";                    // what those call a GPU
  Environment environment;  // of skopeo: proxies, credentials, its own settings
  bool operator==(const ImageSettings&) const = default;
};

struct ImageLink {
  std::string path;    // in the image
  std::string target;  // as a link has it: relative, or absolute in the image
  bool operator==(const ImageLink&) const = default;
};

// What the node's CDI files say that the rank's GPUs need in the image.
struct ImageDevices {
  Environment environment;
  std::vector<ImageMount> mounts;
  std::vector<ImageLink> links;
  std::string library_folder;  // in the image, of links to the driver's libraries; "" = none
  bool operator==(const ImageDevices&) const = default;
};

struct ImageFile {
  std::string folder;       // its root folder; "" = it is not to be had
  std::string lock;         // shared by who uses it; "" = it is not of the store
  Environment environment;  // what the image sets
  ImageDevices devices;
  std::string error;            // why it is not to be had
  bool is_of_the_node = false;  // the error: another node may well have the image
  bool operator==(const ImageFile&) const = default;
};

std::string image_file_to_json(const ImageFile& image);
Result<ImageFile> image_file_from_json(std::string_view text);
Result<ImageFile> read_image_file(const std::string& path);

}  // namespace hai
