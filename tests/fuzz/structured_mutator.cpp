#include "structured_mutator.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hindsight/graph/graph_file.hpp>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

namespace hindsight::fuzz {
namespace {

constexpr GraphFormat format = GraphFormat::HINDSIGHT_FUZZ_FORMAT;

struct Grammar {
  std::string_view marks;  ///< pieces end at them
  std::vector<std::string_view> pieces;
  std::vector<std::pair<std::string_view, std::string_view>> brackets;
};

Grammar grammar() {
  if (format == GraphFormat::dot)
    return {"{}[];=,\n ",
            {"a",
             "b -> c;",
             "a -> {b c};",
             "{a b} -> {c d}",
             "x [kind=input units=3];",
             "h [kind=bernoulli values=\"0,1\"];",
             "t [kind=table rows=\"0.5,0.5\"];",
             "r [kind=reward];",
             "y [kind=categorical classes=3];",
             "f [kind=tanh];",
             "node [units=2];",
             "edge [density=0.5 seed=1];",
             "[pattern=\"0>0\"]",
             "\"estimator:r\"=auto",
             "estimator=\"hnca(steps=2)\"",
             "baseline=none",
             "\"baseline:r\"=\"running-mean(decay=0.5)\"",
             "label=<<b>x</b>>",
             "\"\\\\ \\u202e \\xff\"",
             "\"\"",
             "levels=7",
             "rankdir=LR;",
             "// x\n",
             "/* x */",
             "a:b:c",
             "\"a\" + \"b\"",
             "strict ",
             "subgraph s "},
            {{"{", "}"}, {"subgraph {", "} -> z;"}, {"[", "]"}, {"\"", "\""}, {"<", ">"}}};
  if (format == GraphFormat::graphml)
    return {"<>\"\n ",
            {"<node id=\"a\"/>",
             "<node id=\"b\"/>",
             "<edge source=\"a\" target=\"b\"/>",
             "<graph>",
             "</graph>",
             "<key id=\"k\" for=\"node\" attr.name=\"kind\"/>",
             "<key id=\"u\" attr.name=\"units\"/>",
             "<data key=\"k\">reward</data>",
             "<data key=\"k\">bernoulli</data>",
             "<data key=\"u\">2</data>",
             "<default>1</default>",
             "<hyperedge/>",
             "<port/>",
             "<desc>x</desc>",
             "<![CDATA[x]]>",
             "<!-- x -->",
             "&#x202e;",
             "&amp;",
             "<!DOCTYPE g [<!ENTITY e \"x\">]>",
             "&e;",
             "<?x?>"},
            {{"<graphml>", "</graphml>"},
             {"<graph edgedefault=\"directed\">", "</graph>"},
             {"<key id=\"c\" for=\"all\" attr.name=\"units\">", "</key>"},
             {"<default>", "</default>"},
             {"<data key=\"u\">", "</data>"},
             {"<node id=\"n\">", "</node>"},
             {"<edge source=\"b\" target=\"a\" directed=\"true\">", "</edge>"},
             {"<other>", "</other>"}}};
  return {"\n ,;",
          {"a b\n", "b c {}\n", "c d {'weight': 0.5}\n", "a->e\n", "source,target,weight\n", "# x\n", "% x\n",
           "d\n", "{x} {y} 1\n", "a;b;2e3\r\n"},
          {{"{", "}\n"}, {"\"", "\""}}};
}

class Mutation {
 public:
  Mutation(std::string text, unsigned seed) : text_(std::move(text)), random_(seed) {}

  std::string run() {
    static const Grammar known = grammar();
    const auto [first, last] = piece(known.marks);
    const std::string chosen = text_.substr(first, last - first);
    const std::size_t place = boundary(known.marks);
    switch (below(5)) {
      case 0:
        text_.erase(first, last - first);
        break;
      case 1:
        text_.insert(place, chosen);
        break;
      case 2: {
        const auto& [open, close] = known.brackets[below(known.brackets.size())];
        text_.insert(last, close);
        text_.insert(first, open);
        break;
      }
      default:
        text_.insert(place, known.pieces[below(known.pieces.size())]);
    }
    return std::move(text_);
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  /// Before or after a mark, or at either end.
  std::size_t boundary(std::string_view marks) {
    const std::size_t start = below(text_.size() + 1);
    const std::size_t found = std::min(text_.find_first_of(marks, start), text_.size());
    return std::min(found + below(2), text_.size());
  }

  std::pair<std::size_t, std::size_t> piece(std::string_view marks) {
    const std::size_t one = boundary(marks), other = boundary(marks);
    return {std::min(one, other), std::max(one, other)};
  }

  std::string text_;
  std::minstd_rand random_;
};

}  // namespace

std::size_t mutate_graph_file(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(bytes, size, most);
  const std::string text = Mutation({reinterpret_cast<const char*>(bytes), size}, seed).run();
  const std::size_t count = std::min(text.size(), most);
  std::copy_n(text.begin(), count, bytes);
  return count;
}

}  // namespace hindsight::fuzz
