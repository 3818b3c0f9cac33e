#pragma once

#include <cstddef>
#include <utility>

#include <hindsight/core/block.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/nodes/linear_messages.hpp>

namespace hindsight::internal {

/// The sparse messages between binary units of all levels: messages have no order, and a parent that is told
/// once by all its children is told fast.
template <class S>
class SparseMessageBlock final : public Block<S> {
 public:
  explicit SparseMessageBlock(SparseEdges&& sparse)
      : children_(std::move(sparse.children)), messages_(children_, sparse.runs, std::move(sparse.parents)) {}
  SparseMessageBlock(const SparseMessageBlock&) = delete;  // the messages refer to the children
  SparseMessageBlock& operator=(const SparseMessageBlock&) = delete;

  int level() const override { return 0; }
  void forward(const Frame<S>&) const override {}
  std::size_t table_size() const override { return messages_.table_size(); }
  int table_parts() const override { return static_cast<int>(messages_.parts()); }
  void prepare(const Frame<S>& frame, int first, int last) const override {
    messages_.prepare(frame, frame.tables, index(first), index(last));
  }
  void send_messages(const Frame<S>& frame) const override { messages_.send(frame, frame.tables); }
  int rows() const override { return 0; }
  void accumulate(const Frame<S>&, int, int) const override {}
  ScratchSize scratch(int lanes) const override { return {messages_.scratch(lanes), 0}; }

 private:
  ChildRows children_;
  SparseMessages<S> messages_;
};

}  // namespace hindsight::internal
