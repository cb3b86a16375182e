#pragma once
// A way back for objects that can't be copied: what is allocated while an Arena is in use lies in
// one stretch of memory, whose bytes are kept and put back at the same addresses. One thread, and
// one arena in use at a time. The program's operator new is replaced for it (memory_image.cpp).
//
// What is allocated once and kept for good (a static of a function) must not begin its life while
// an arena is in use: going back would take its memory away. So the explorer rehearses first.

#include <cstddef>
#include <memory>
#include <vector>

namespace hai {

// The bytes of an arena at some moment.
class MemoryImage {
 public:
  size_t size() const { return size_; }

 private:
  friend class Arena;
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class Arena {
 public:
  explicit Arena(size_t bytes_max);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // While one of these lives, new takes from the arena. What was taken may be deleted at any time.
  class Use {
   public:
    explicit Use(Arena& arena);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  size_t used() const;
  void save(MemoryImage& image) const;
  void restore(const MemoryImage& image);

  // For operator new and delete.
  void* take(size_t bytes);
  void give_back(void* block);
  bool owns(const void* block) const { return block >= base_ && block < base_ + bytes_max_; }

 private:
  struct Header;
  Header& header() const;

  std::byte* base_ = nullptr;
  const size_t bytes_max_;
};

}  // namespace hai
