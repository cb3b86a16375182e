#include "server/rpc/node_images.h"

#include "common/bytes.h"
#include "common/image.h"
#include "common/shell_messages.h"

namespace hai {

namespace {

using ImageWords = std::vector<std::string>;

Status check_pull(const ImageWords& words) {
  if (words.size() != 2) return invalid_argument("pull takes one image");
  const Result<ImageName> image = parse_image(words[1]);
  if (!image.is_ok()) return invalid_argument("image: {}", image.status().message());
  if (image.value().kind != ImageName::Kind::registry) {
    return invalid_argument(
        "image: only those of registries are pulled ahead: what lies at a path is its user's");
  }
  return ok();
}

Status check_prune(const ImageWords& words) {
  if (words.size() == 1) return ok();
  if (words.size() != 3 || words[1] != "--keep") return invalid_argument("prune takes --keep SIZE");
  return parse_bytes(words[2]).status();
}

}  // namespace

std::optional<std::string> node_of_images(std::string_view job) {
  if (!job.starts_with(kImagesOfNodePrefix)) return std::nullopt;
  return std::string(job.substr(kImagesOfNodePrefix.size()));
}

Status check_image_words(const ImageWords& words, const Actor& actor, bool all_see_all) {
  const std::string verb = words.empty() ? "" : words[0];
  const bool is_list = verb == "list" && words.size() == 1;
  if (!is_list && verb != "pull" && verb != "prune") {
    return invalid_argument("of a node's images there are list, pull and prune");
  }
  if (is_list && (all_see_all || actor.is_operator())) return ok();
  if (!actor.is_operator()) {
    return permission_denied("only operators may {} images of nodes", verb);
  }
  return verb == "pull" ? check_pull(words) : check_prune(words);
}

std::string image_to_pull(const ImageWords& words) {
  return words.size() == 2 && words[0] == "pull" ? words[1] : "";
}

}  // namespace hai
