#include "agent/image/elf_soname.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

namespace hai {

namespace {

constexpr size_t kSonameBytesMax = 255;
constexpr uint64_t kEntriesMax = 4'096;

template <typename T>
std::optional<T> read_at(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<Elf64_Phdr> segments_of(std::string_view elf) {
  std::vector<Elf64_Phdr> segments;
  const auto header = read_at<Elf64_Ehdr>(elf, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_type != ET_DYN)
    return segments;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(elf, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) break;
    segments.push_back(*segment);
  }
  return segments;
}

// Where in the file lies what is to be at `address`.
std::optional<uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  }
  return std::nullopt;
}

}  // namespace

std::string soname_of(std::string_view elf) {
  const std::vector<Elf64_Phdr> segments = segments_of(elf);
  std::optional<uint64_t> name;
  std::optional<uint64_t> names;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t i = 0; i < kEntriesMax; ++i) {
      const auto entry = read_at<Elf64_Dyn>(elf, segment.p_offset + i * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_SONAME) name = entry->d_un.d_val;
      if (entry->d_tag == DT_STRTAB) names = offset_of(segments, entry->d_un.d_ptr);
    }
  }
  if (!name || !names || *names > elf.size() || *name > elf.size() - *names) return "";
  const std::string_view text = elf.substr(*names + *name, kSonameBytesMax + 1);
  const size_t end = text.find('\0');
  if (end == std::string_view::npos || text.substr(0, end).find('/') != std::string_view::npos)
    return "";
  return std::string(text.substr(0, end));
}

}  // namespace hai
