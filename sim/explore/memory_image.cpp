#include "sim/explore/memory_image.h"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "common/check.h"

namespace hai {
namespace {

// Of those that exist, new takes from `in_use` and delete looks whether `existing` owns the block.
Arena* existing = nullptr;
Arena* in_use = nullptr;

constexpr size_t kStep = 16;  // sizes of small blocks, and what every block is aligned to
constexpr size_t kSmallMax = 1024;
constexpr size_t kSmallClasses = kSmallMax / kStep;
constexpr size_t kClasses = kSmallClasses + 24;  // then powers of two

size_t class_of(size_t bytes) {
  if (bytes <= kSmallMax) return (std::max<size_t>(bytes, 1) - 1) / kStep;
  return kSmallClasses + std::bit_width((bytes - 1) / kSmallMax) - 1;
}

size_t size_of(size_t size_class) {
  if (size_class < kSmallClasses) return (size_class + 1) * kStep;
  return kSmallMax << (size_class - kSmallClasses + 1);
}

// In front of each block.
struct alignas(kStep) BlockHeader {
  size_t size_class;
};

}  // namespace

// At the arena's beginning, so that an image holds it too.
struct Arena::Header {
  size_t used = sizeof(Header);
  std::array<void*, kClasses> free{};  // of each class, a list through the blocks themselves
};

Arena::Header& Arena::header() const { return *reinterpret_cast<Header*>(base_); }

Arena::Arena(size_t bytes_max) : bytes_max_(bytes_max) {
  CHECK(existing == nullptr);
  void* memory = mmap(nullptr, bytes_max, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  base_ = static_cast<std::byte*>(memory);
  new (base_) Header;
  header().used = (sizeof(Header) + kStep - 1) / kStep * kStep;
  existing = this;
}

Arena::~Arena() {
  CHECK(in_use == nullptr);
  existing = nullptr;
  munmap(base_, bytes_max_);
}

Arena::Use::Use(Arena& arena) {
  CHECK(in_use == nullptr);
  in_use = &arena;
}

Arena::Use::~Use() { in_use = nullptr; }

size_t Arena::used() const { return header().used; }

void Arena::save(MemoryImage& image) const {
  image.size_ = used();
  if (image.capacity_ < image.size_) {
    image.capacity_ = image.size_ + image.size_ / 4;
    image.bytes_ = std::make_unique<std::byte[]>(image.capacity_);
  }
  std::memcpy(image.bytes_.get(), base_, image.size_);
}

void Arena::restore(const MemoryImage& image) {
  std::memcpy(base_, image.bytes_.get(), image.size_);
}

void* Arena::take(size_t bytes) {
  const size_t size_class = class_of(bytes);
  CHECK(size_class < kClasses);
  Header& head = header();
  if (void* block = head.free[size_class]) {
    std::memcpy(&head.free[size_class], block, sizeof(void*));
    return block;
  }
  const size_t whole = sizeof(BlockHeader) + size_of(size_class);
  CHECK(head.used + whole <= bytes_max_);
  auto* front = new (base_ + head.used) BlockHeader{size_class};
  head.used += whole;
  return front + 1;
}

void Arena::give_back(void* block) {
  const size_t size_class = (static_cast<BlockHeader*>(block) - 1)->size_class;
  Header& head = header();
  std::memcpy(block, &head.free[size_class], sizeof(void*));
  head.free[size_class] = block;
}

}  // namespace hai

void* operator new(size_t bytes) {
  if (hai::in_use != nullptr) return hai::in_use->take(bytes);
  void* block = std::malloc(bytes == 0 ? 1 : bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void operator delete(void* block) noexcept {
  if (hai::existing != nullptr && hai::existing->owns(block)) {
    hai::existing->give_back(block);
  } else {
    std::free(block);
  }
}

void operator delete(void* block, size_t) noexcept { operator delete(block); }
