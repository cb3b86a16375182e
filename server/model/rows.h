#pragma once
// One table of the state: rows by key. Whoever changes a row asks for it with change(), which notes
// its key for the store and, from mark_durable() on, keeps it as it was: the state runs ahead of
// the store while an append is under way, and if the store goes away meanwhile, nobody knows
// whether that was written, and only what was there before it may be shown.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/check.h"

namespace hai {

template <typename Key, typename Row>
class Rows {
 public:
  const std::map<Key, Row>& all() const { return rows_; }
  bool contains(const Key& key) const { return rows_.contains(key); }
  const Row* find(const Key& key) const {
    auto it = rows_.find(key);
    return it == rows_.end() ? nullptr : &it->second;
  }
  // One of which only what is not stored changes: what follows from other rows.
  Row& derived(const Key& key) {
    auto it = rows_.find(key);
    CHECK(it != rows_.end());
    return it->second;
  }
  Row& change(const Key& key) {
    keep(key);
    touched_.insert(key);
    return derived(key);
  }
  // Makes it, or takes the place of the one that is there.
  Row& set(const Key& key, Row row) {
    keep(key);
    touched_.insert(key);
    return rows_.insert_or_assign(key, std::move(row)).first->second;
  }
  Row remove(const Key& key) {
    keep(key);
    touched_.insert(key);
    auto row = rows_.extract(key);
    return row.empty() ? Row{} : std::move(row.mapped());
  }

  // From the store, or only out of memory: nothing to write.
  Row& load(const Key& key, Row row) { return rows_.emplace(key, std::move(row)).first->second; }
  void forget(const Key& key) { rows_.erase(key); }

  // Keys of rows that were changed, made or removed since.
  std::set<Key> take_touched() { return std::exchange(touched_, {}); }

  // All rows are in the store as they are.
  void mark_durable() {
    before_.clear();
    newest_.reset();
    if (!rows_.empty()) newest_ = rows_.rbegin()->first;
    keeps_ = true;
  }
  // All rows as they were then; nothing is left here.
  std::vector<Row> take_durable() {
    if (keeps_) rows_.erase(newest_ ? rows_.upper_bound(*newest_) : rows_.begin(), rows_.end());
    for (auto& [key, row] : before_) {
      if (row) {
        rows_.insert_or_assign(key, std::move(*row));
      } else {
        rows_.erase(key);
      }
    }
    std::vector<Row> values;
    values.reserve(rows_.size());
    for (auto& [key, row] : rows_) values.push_back(std::move(row));
    return values;
  }

  bool operator==(const Rows& other) const { return rows_ == other.rows_; }

 private:
  // One behind all that were there needs no image: its key tells. Most turns are about new jobs.
  void keep(const Key& key) {
    if (!keeps_ || !newest_ || *newest_ < key || before_.contains(key)) return;
    const Row* row = find(key);
    before_.emplace(key, row == nullptr ? std::nullopt : std::optional(*row));
  }

  std::map<Key, Row> rows_;
  std::set<Key> touched_;
  bool keeps_ = false;
  std::optional<Key> newest_;                 // of those that were there
  std::map<Key, std::optional<Row>> before_;  // nullopt = was not there
};

}  // namespace hai
