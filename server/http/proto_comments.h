#pragma once
// What the .proto files say beside their fields, values and calls: the descriptions of the document
// of the REST interface.

#include <google/protobuf/descriptor.h>

#include <string>

namespace hai {

class ProtoComments {
 public:
  ProtoComments();

  // In one line; "" if there is none.
  std::string of(const google::protobuf::FieldDescriptor& field) const;
  std::string of(const google::protobuf::EnumDescriptor& type, int number) const;
  // Without the full stop, as a headline.
  std::string of(const google::protobuf::MethodDescriptor& call) const;

 private:
  google::protobuf::DescriptorPool pool_;  // with comments, which generated code leaves out
};

}  // namespace hai
