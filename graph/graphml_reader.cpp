// Reads GraphML. Boost.Graph has a reader too, but it knows no lines, and nested elements exhaust its stack.
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <expat.h>

#include <fmt/format.h>

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
      if (reader.data_key_) reader.data_.append(text, static_cast<std::size_t>(length));
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
    join();
    return std::move(draft_);
  }

 private:
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
      keys_[required(name, attributes, "id")] = value(attributes, "attr.name").value_or("");
    } else if (element == "node") {
      node_ = draft_.node(required(name, attributes, "id"), line()).node;
    } else if (element == "edge") {
      const auto directed = value(attributes, "directed");
      if (directed ? *directed != "true" && *directed != "1" : !is_directed_)
        refuse_here("the edge has no direction, so parent and child cannot be told apart");
      edges_.push_back(
          {required(name, attributes, "source"), required(name, attributes, "target"), line(), {}});
      in_edge_ = true;
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
    if (element != "data" || !data_key_) return;
    const auto key = keys_.find(*data_key_);
    data_key_.reset();
    if (key == keys_.end() || key->second.empty()) return;
    if (in_edge_)
      edges_.back().attributes.set(key->second, data_);
    else if (node_)
      draft_.attributes_of(*node_).set(key->second, data_);
  }

  /// Edges may come before their nodes.
  void join() {
    const auto end_of = [&](const std::string& name, std::size_t line) {
      if (const std::uint32_t* found = draft_.find(name)) return *found;
      draft_.refuse_at(line,
                       {.code = "file-syntax",
                        .message = fmt::format("an edge names '{}', which is no <node>", name.substr(0, 60)),
                        .help = {fmt::format("<node id=\"{}\"/>", name.substr(0, 60))}});
    };
    for (const NamedEdge& edge : edges_) {
      const std::uint32_t from = end_of(edge.from, edge.line), to = end_of(edge.to, edge.line);
      draft_.add_edge(from, to, edge.line, edge.attributes);
    }
  }

  GraphDraft draft_;
  XML_Parser parser_;
  bool has_graph_ = false, is_directed_ = true, in_edge_ = false;
  std::optional<std::uint32_t> node_;
  std::optional<std::string> data_key_;
  std::string data_;
  std::map<std::string, std::string> keys_;
  std::vector<NamedEdge> edges_;
  std::exception_ptr problem_;
};

}  // namespace

GraphDraft read_graphml(std::string_view text, const std::string& file) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, void (*)(XML_Parser)> parser(
      XML_ParserCreate(nullptr), XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  return GraphmlReader(file, parser.get()).run(text);
}

}  // namespace hindsight
