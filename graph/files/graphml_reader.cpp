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

#include <hindsight/core/report.hpp>

#include <hindsight/graph/graph_draft.hpp>

namespace hindsight::internal {
namespace {

/// Elements that mean something here; others are passed over with all they hold.
enum class Element { none, graphml, key, fallback, graph, node, edge, data, hyperedge, other };

constexpr std::pair<std::string_view, Element> elements[] = {
    {"graphml", Element::graphml},  {"key", Element::key},
    {"default", Element::fallback}, {"graph", Element::graph},
    {"node", Element::node},        {"edge", Element::edge},
    {"data", Element::data},        {"hyperedge", Element::hyperedge}};

Element element_called(std::string_view name) {
  for (const auto& [known, element] : elements)
    if (known == name) return element;
  return Element::other;
}

std::string_view name_of(Element element) {
  for (const auto& [name, known] : elements)
    if (known == element) return name;
  return "the file";
}

bool may_hold(Element outer, Element inner) {
  switch (inner) {
    case Element::graphml:
      return outer == Element::none;
    case Element::key:
    case Element::graph:
      return outer == Element::graphml;
    case Element::fallback:
      return outer == Element::key;
    case Element::node:
    case Element::edge:
    case Element::hyperedge:
      return outer == Element::graph;
    case Element::data:
      return outer == Element::graphml || outer == Element::graph || outer == Element::node ||
             outer == Element::edge;
    default:
      return true;
  }
}

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
        [](void* self, const char*) { static_cast<GraphmlReader*>(self)->guarded(&GraphmlReader::end); });
    XML_SetCharacterDataHandler(parser, [](void* self, const char* text, int length) {
      auto& reader = *static_cast<GraphmlReader*>(self);
      if (reader.ignored_depth_ == 0 && reader.holds_text())
        reader.data_.append(text, static_cast<std::size_t>(length));
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
    const GraphDraft::Defaults of_nodes = defaults_for("node");
    for (std::uint32_t node = 0; node < draft_.nodes().size(); ++node)
      draft_.set_defaults(node, of_nodes, draft_.nodes()[node].line);
    join(defaults_for("edge"));
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

  Element innermost() const { return open_.empty() ? Element::none : open_.back(); }

  bool holds_text() const { return innermost() == Element::data || innermost() == Element::fallback; }

  void begin(const char* name, const char** attributes) {
    const Element element = element_called(name);
    if (ignored_depth_ > 0 || element == Element::other) {
      ++ignored_depth_;
      return;
    }
    if (element == Element::graph && has_graph_)
      refuse_here("the file holds a second <graph>, or one inside another");
    if (!may_hold(innermost(), element))
      refuse_here(innermost() == Element::none
                      ? fmt::format("<{}> stands outside <graphml>", name)
                      : fmt::format("<{}> has no place in <{}>", name, name_of(innermost())));
    open_.push_back(element);
    data_.clear();
    switch (element) {
      case Element::graph:
        has_graph_ = true;
        is_directed_ = value(attributes, "edgedefault").value_or("directed") == "directed";
        break;
      case Element::key:
        begin_key(attributes);
        break;
      case Element::node:
        begin_node(attributes);
        break;
      case Element::edge:
        begin_edge(attributes);
        break;
      case Element::data:
        data_key_ = required("data", attributes, "key");
        break;
      case Element::hyperedge:
        refuse_here("hyperedges join more than two nodes and mean nothing here");
      default:
        break;
    }
  }

  void begin_key(const char** attributes) {
    const auto [at, fresh] = keys_.try_emplace(required("key", attributes, "id"));
    if (!fresh) refuse_here(fmt::format("the key '{}' is there already", shortened(at->first)));
    key_ = &at->second;
    *key_ = {.name = value(attributes, "attr.name").value_or(""),
             .domain = value(attributes, "for").value_or("all"),
             .otherwise = {}};
  }

  void begin_node(const char** attributes) {
    const std::string id = required("node", attributes, "id");
    const auto [node, fresh] = draft_.node(id, line());
    if (!fresh) refuse_here(fmt::format("the node '{}' is there already", shortened(id)));
    draft_.declare(node);
    node_ = node;
  }

  void begin_edge(const char** attributes) {
    const auto directed = value(attributes, "directed");
    if (directed ? *directed != "true" && *directed != "1" : !is_directed_)
      refuse_here("the edge has no direction, so parent and child cannot be told apart");
    edges_.push_back(
        {required("edge", attributes, "source"), required("edge", attributes, "target"), line(), {}});
  }

  void end() {
    if (ignored_depth_ > 0) {
      --ignored_depth_;
      return;
    }
    const Element element = innermost();
    open_.pop_back();
    if (element == Element::fallback) key_->otherwise = data_;
    if (element == Element::data && (innermost() == Element::node || innermost() == Element::edge))
      take_data();
  }

  void take_data() {
    const auto key = keys_.find(data_key_);
    if (key == keys_.end())
      refuse_here(
          fmt::format("<data> names the key '{}', and no <key> before it does", shortened(data_key_)));
    const std::string& name = key->second.name;
    if (name.empty()) return;
    if (innermost() == Element::edge) {
      draft_.note(edges_.back().attributes, name, data_, line());
      return;
    }
    Attributes one;
    one.set(name, data_);
    draft_.describe(node_, one, line());
  }

  /// What keys say of all nodes or edges that say nothing themselves.
  GraphDraft::Defaults defaults_for(std::string_view domain) {
    Attributes defaults;
    for (const auto& [id, key] : keys_)
      if (key.otherwise && !key.name.empty() && (key.domain == domain || key.domain == "all") &&
          !defaults.find(key.name))
        draft_.note(defaults, key.name, *key.otherwise, 1);
    if (domain == "edge") defaults = without_graphviz(std::move(defaults));
    return draft_.share(std::move(defaults), 1);
  }

  /// Edges may come before their nodes.
  void join(GraphDraft::Defaults defaults) {
    const auto end_of = [&](const std::string& name, std::size_t line) {
      if (const std::uint32_t* found = draft_.find(name)) return *found;
      draft_.refuse_at(line,
                       {.code = "file-syntax",
                        .message = fmt::format("an edge names '{}', which is no <node>", shortened(name)),
                        .help = {fmt::format("<node id=\"{}\"/>", shortened(name))}});
    };
    for (NamedEdge& edge : edges_) {
      const std::uint32_t from = end_of(edge.from, edge.line), to = end_of(edge.to, edge.line);
      draft_.add_edge(from, to, edge.line,
                      draft_.keep({without_graphviz(std::move(edge.attributes)), defaults}, edge.line));
    }
  }

  GraphDraft draft_;
  XML_Parser parser_;
  bool has_graph_ = false, is_directed_ = true;
  std::vector<Element> open_;      ///< those that mean something, the innermost last
  std::size_t ignored_depth_ = 0;  ///< of elements within one that is passed over
  std::uint32_t node_ = 0;         ///< the last one
  std::string data_key_, data_;    ///< what stands in the innermost element
  std::map<std::string, Key> keys_;
  Key* key_ = nullptr;  ///< the last one
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

}  // namespace hindsight::internal
