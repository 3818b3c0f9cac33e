#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace hindsight {

/// A list that never changes, so that copies share it. Reads like a const std::vector.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> items)
      : items_(items.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  const T* begin() const { return items_ ? items_->data() : nullptr; }
  const T* end() const { return begin() + size(); }
  std::size_t size() const { return items_ ? items_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T& operator[](std::size_t i) const { return (*items_)[i]; }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

}  // namespace hindsight
