#include "server/http/proto_comments.h"

#include <google/protobuf/descriptor.pb.h>

#include "common/check.h"

// The .proto files as protoc has read them (proto/CMakeLists.txt).
extern "C" const char hai_api_descriptors[];
extern "C" const char hai_api_descriptors_end[];

namespace hai {

namespace {

template <typename Known>
std::string line_at(const Known* known) {
  google::protobuf::SourceLocation place;
  if (known == nullptr || !known->GetSourceLocation(&place)) return "";
  std::string line;
  for (const char c : place.leading_comments + place.trailing_comments) {
    if (c != '\n' && (c != ' ' || (!line.empty() && line.back() != ' '))) line += c;
    if (c == '\n' && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

ProtoComments::ProtoComments() {
  google::protobuf::FileDescriptorSet files;
  CHECK(files.ParseFromArray(hai_api_descriptors,
                             static_cast<int>(hai_api_descriptors_end - hai_api_descriptors)));
  for (const google::protobuf::FileDescriptorProto& file : files.file()) {
    CHECK(pool_.BuildFile(file) != nullptr);
  }
}

std::string ProtoComments::of(const google::protobuf::FieldDescriptor& field) const {
  return line_at(pool_.FindFieldByName(field.full_name()));
}

std::string ProtoComments::of(const google::protobuf::EnumDescriptor& type, int number) const {
  const auto* known = pool_.FindEnumTypeByName(type.full_name());
  return known == nullptr ? "" : line_at(known->FindValueByNumber(number));
}

std::string ProtoComments::of(const google::protobuf::MethodDescriptor& call) const {
  std::string line = line_at(pool_.FindMethodByName(call.full_name()));
  if (line.ends_with('.')) line.pop_back();
  return line;
}

}  // namespace hai
