#include "agent/image/cdi.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace hai {

namespace {

void add_new(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& text : from) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  }
}

// Of two for the same place the later one counts.
void add_edits(const CdiEdits& from, CdiEdits& to) {
  for (const auto& [name, value] : from.environment) to.environment[name] = value;
  for (const ImageMount& mount : from.mounts) {
    std::erase_if(to.mounts, [&](const ImageMount& other) { return other.to == mount.to; });
    to.mounts.push_back(mount);
  }
  for (const ImageLink& link : from.links) {
    std::erase_if(to.links, [&](const ImageLink& other) { return other.path == link.path; });
    to.links.push_back(link);
  }
  add_new(from.library_folders, to.library_folders);
  add_new(from.device_nodes, to.device_nodes);
  add_new(from.skipped, to.skipped);
}

Result<const CdiSpec*> spec_with(const std::vector<CdiSpec>& folder, std::string_view kind,
                                 const std::string& device) {
  const CdiSpec* found = nullptr;
  for (const CdiSpec& spec : folder) {
    if (spec.kind != kind || !spec.devices.contains(device)) continue;
    if (found != nullptr) {
      return failed_precondition("this node's CDI files {} and {} both have {}={}", found->file,
                                 spec.file, kind, device);
    }
    found = &spec;
  }
  return found;
}

Status no_device(const std::vector<const CdiSpec*>& of_kind, std::string_view kind,
                 const std::string& name) {
  std::vector<std::string> had;
  for (const CdiSpec* spec : of_kind) {
    for (const auto& [device, edits] : spec->devices)
      had.push_back(fmt::format("{} in {}", device, spec->file));
  }
  constexpr size_t kToldMax = 4;
  const bool are_all = had.size() <= kToldMax;
  if (!are_all) had.resize(kToldMax);
  return failed_precondition("this node's CDI files have no {}={}, but {}{}", kind, name,
                             fmt::join(had, ", "), are_all ? "" : ", …");
}

}  // namespace

Result<CdiEdits> choose_cdi(const std::vector<std::vector<CdiSpec>>& folders, std::string_view kind,
                            const std::vector<std::string>& names) {
  CdiEdits edits;
  std::vector<const CdiSpec*> of_kind;
  for (const std::vector<CdiSpec>& folder : folders) {
    for (const CdiSpec& spec : folder) {
      if (spec.kind == kind) of_kind.push_back(&spec);
    }
  }
  if (of_kind.empty()) return edits;
  std::set<const CdiSpec*> begun;
  for (const std::string& name : names) {
    const CdiSpec* spec = nullptr;
    for (size_t i = folders.size(); i > 0 && spec == nullptr; --i) {
      const Result<const CdiSpec*> found = spec_with(folders[i - 1], kind, name);
      RETURN_IF_ERROR(found.status());
      spec = found.value();
    }
    if (spec == nullptr) return no_device(of_kind, kind, name);
    if (begun.insert(spec).second) add_edits(spec->edits, edits);
    add_edits(spec->devices.at(name), edits);
  }
  return edits;
}

}  // namespace hai
