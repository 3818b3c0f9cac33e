// Reads GraphML. Boost.Graph has a reader too, but it knows no lines, and nested elements exhaust its stack.
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <expat.h>

#include <fmt/format.h>

#include <hindsight/core/terminal_text.hpp>

#include <hindsight/graph/graph_draft.hpp>

namespace hindsight {
namespace {

/// Elements between which the reader is; others are passed over with all they hold.
class GraphmlReader {
 public:
  GraphmlReader(const std::string& file, XML_Parser parser)
      : draft_(file, GraphDraft::Strangers::ignored), parser_(parser) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const char* name, const char** attributes) {
          static_cast<GraphmlReader*>(self)->guarded(&GraphmlReader::begin, name, attributes);
        },
        [](void* self, const char* name) {
          static_cast<GraphmlReader*>(self)->guarded(&GraphmlReader::end, name);
        });
    XML_SetCharacterDataHandler(parser, [](void* self, const char* text, int length) {
      auto& reader = *static_cast<GraphmlReader*>(self);
      if (reader.data_key_ || reader.in_default_) reader.data_.append(text, static_cast<std::size_t>(length));
    });
  }

  GraphDraft run(std::string_view text) {
    constexpr std::size_t portion = std::size_t{1} << 24;
    for (bool last = false; !last;) {
      const std::size_t count = std::min(portion, text.size());
      last = count == text.size();
      const auto status = XML_Parse(parser_, text.data(), static_cast<int>(count), last);
      if (problem_) std::rethrow_exception(problem_);
      if (status != XML_STATUS_OK)
        refuse_here(fmt::format("this is no XML: {}", XML_ErrorString(XML_GetErrorCode(parser_))));
      text.remove_prefix(count);
    }
    if (!has_graph_) refuse_here("the file holds no <graph>");
    apply_defaults();
    join();
    return std::move(draft_);
  }

 private:
  struct Key {
    std::string name, domain;
    std::optional<std::string> otherwise;
  };
  struct NamedEdge {
    std::string from, to;
    std::size_t line;
    Attributes attributes;
  };

  std::size_t line() const { return XML_GetCurrentLineNumber(parser_); }
  [[noreturn]] void refuse_here(std::string message) const {
    draft_.refuse_at(line(), {.code = "file-syntax",
                              .message = std::move(message),
                              .help = {"<graphml><graph edgedefault=\"directed\">…</graph></graphml>"}});
  }

  /// Exceptions must not pass through a library written in C.
  template <class... Parameters, class... Arguments>
  void guarded(void (GraphmlReader::*handler)(Parameters...), Arguments... arguments) {
    if (problem_) return;
    try {
      (this->*handler)(arguments...);
    } catch (...) {
      problem_ = std::current_exception();
      XML_StopParser(parser_, XML_FALSE);
    }
  }

  static std::optional<std::string> value(const char** attributes, const char* name) {
    for (; *attributes; attributes += 2)
      if (std::strcmp(attributes[0], name) == 0) return attributes[1];
    return std::nullopt;
  }
  std::string required(const char* element, const char** attributes, const char* name) const {
    if (const auto found = value(attributes, name)) return *found;
    refuse_here(fmt::format("<{}> lacks its attribute {}", element, name));
  }

  void begin(const char* name, const char** attributes) {
    const std::string_view element = name;
    if (element == "graph") {
      if (has_graph_) refuse_here("the file holds a second <graph>, or one inside another");
      has_graph_ = true;
      is_directed_ = value(attributes, "edgedefault").value_or("directed") == "directed";
    } else if (element == "key") {
      key_ = &keys_[required(name, attributes, "id")];
      *key_ = {.name = value(attributes, "attr.name").value_or(""),
               .domain = value(attributes, "for").value_or("all"),
               .otherwise = {}};
    } else if (element == "node") {
      const std::string id = required(name, attributes, "id");
      const auto [node, fresh] = draft_.node(id, line());
      if (!fresh) refuse_here(fmt::format("the node '{}' is there already", shortened(id)));
      node_ = node;
    } else if (element == "edge") {
      const auto directed = value(attributes, "directed");
      if (directed ? *directed != "true" && *directed != "1" : !is_directed_)
        refuse_here("the edge has no direction, so parent and child cannot be told apart");
      edges_.push_back(
          {required(name, attributes, "source"), required(name, attributes, "target"), line(), {}});
      in_edge_ = true;
    } else if (element == "default" && key_) {
      in_default_ = true;
      data_.clear();
    } else if (element == "data") {
      data_key_ = required(name, attributes, "key");
      data_.clear();
    } else if (element == "hyperedge") {
      refuse_here("hyperedges join more than two nodes and mean nothing here");
    }
  }

  void end(const char* name) {
    const std::string_view element = name;
    if (element == "node") node_.reset();
    if (element == "edge") in_edge_ = false;
    if (element == "key") key_ = nullptr;
    if (element == "default" && std::exchange(in_default_, false)) key_->otherwise = data_;
    if (element != "data" || !data_key_) return;
    const auto key = keys_.find(*data_key_);
    data_key_.reset();
    if (key == keys_.end() || key->second.name.empty()) return;
    Attributes one;
    one.set(key->second.name, data_);
    if (in_edge_)
      draft_.note(edges_.back().attributes, key->second.name, data_, line());
    else if (node_)
      draft_.describe(*node_, one, line());
  }

  /// What keys say of all nodes or edges that say nothing themselves.
  void apply_defaults() {
    for (const auto& [id, key] : keys_) {
      if (!key.otherwise || key.name.empty()) continue;
      if (key.domain == "node" || key.domain == "all")
        for (std::uint32_t node = 0; node < draft_.nodes().size(); ++node)
          if (!draft_.attributes_of(node).find(key.name)) {
            Attributes one;
            one.set(key.name, *key.otherwise);
            draft_.describe(node, one, draft_.nodes()[node].line);
          }
      if (key.domain == "edge" || key.domain == "all")
        for (NamedEdge& edge : edges_)
          if (!edge.attributes.find(key.name))
            draft_.note(edge.attributes, key.name, *key.otherwise, edge.line);
    }
  }

  /// Edges may come before their nodes.
  void join() {
    const auto end_of = [&](const std::string& name, std::size_t line) {
      if (const std::uint32_t* found = draft_.find(name)) return *found;
      draft_.refuse_at(line,
                       {.code = "file-syntax",
                        .message = fmt::format("an edge names '{}', which is no <node>", shortened(name)),
                        .help = {fmt::format("<node id=\"{}\"/>", shortened(name))}});
    };
    for (const NamedEdge& edge : edges_) {
      const std::uint32_t from = end_of(edge.from, edge.line), to = end_of(edge.to, edge.line);
      draft_.add_edge(from, to, edge.line, draft_.keep(edge.attributes, edge.line));
    }
  }

  GraphDraft draft_;
  XML_Parser parser_;
  bool has_graph_ = false, is_directed_ = true, in_edge_ = false;
  std::optional<std::uint32_t> node_;
  std::optional<std::string> data_key_;
  std::string data_;
  std::map<std::string, Key> keys_;
  Key* key_ = nullptr;  ///< whose element is open
  bool in_default_ = false;
  std::vector<NamedEdge> edges_;
  std::exception_ptr problem_;
};

}  // namespace

GraphDraft read_graphml(std::string_view text, const std::string& file) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, void (*)(XML_Parser)> parser(
      XML_ParserCreate("UTF-8"), XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  return GraphmlReader(file, parser.get()).run(text);
}

}  // namespace hindsight
