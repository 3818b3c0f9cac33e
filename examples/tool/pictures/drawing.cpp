#include "tool/drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tool/atomic_file.hpp"
#include "tool/file_names.hpp"
#include "tool/outside_program.hpp"
#include "tool/overview.hpp"
#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

namespace fs = std::filesystem;

constexpr DrawingLimits drawing_limits{.items = 400, .links = 1500, .passed = 2500};
/// Up to so many items there is room for kinds and estimators in words; beyond, colours and shapes tell them.
constexpr std::size_t most_in_words = 60, most_with_pairs = 20;

constexpr auto ink = "#2b3440", faint = "#8a94a0", red = "#c62f2f", orange = "#e0762c";

struct Tone {
  std::string_view fill, line;
};
/// Items and marks call each other by number.
template <class List>
decltype(auto) at(List& list, int number) {
  return list[static_cast<std::size_t>(number)];
}

constexpr std::array<Tone, tones> palette{{{"#e3eefb", "#3b6ea5"},
                                           {"#fdf0d5", "#b5822a"},
                                           {"#dcf3ee", "#2b8a77"},
                                           {"#eee6fa", "#7a55b8"},
                                           {"#e9f2d8", "#6d8b28"},
                                           {"#fbe4ef", "#b24a7e"},
                                           {"#e4e7f7", "#4a56a8"}}};
constexpr Tone plain{"#ffffff", "#7a8591"}, given{"#eceff2", "#7a8591"}, dark{"#2b3440", "#2b3440"};

/// Entities mean themselves in Graphviz even between quotes, so they are written out.
std::string escaped(const std::string& text, std::size_t shown) {
  std::string out;
  for (const char c : one_line(text, shown)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\\':
        out += "&#92;";
        break;
      default:
        out += c;
    }
  return out;
}

const Tone& tone_of(const Mark& mark) { return at(palette, mark.tone); }

/// Several estimators share one shape in stripes.
std::string fill(const std::vector<int>& its, const std::vector<Mark>& marks) {
  std::vector<std::string_view> fills;
  for (const int mark : its) fills.push_back(tone_of(at(marks, mark)).fill);
  std::sort(fills.begin(), fills.end());
  fills.erase(std::unique(fills.begin(), fills.end()), fills.end());
  return fmt::format("{}", fmt::join(fills, ":"));
}

/// Shape and colours of one item or group.
std::string appearance(Look look, const std::vector<int>& its, const std::vector<Mark>& marks) {
  const auto format = [](const char* shape, const char* style, std::string_view fill_colour,
                         const Tone& tone) {
    return fmt::format("shape={} style=\"{}\" fillcolor=\"{}\" color=\"{}\"", shape, style, fill_colour,
                       tone.line);
  };
  switch (look) {
    case Look::input:
      return format("cds", "filled", given.fill, given);
    case Look::deterministic:
      return format("box", "filled", plain.fill, plain);
    case Look::reward:
      return format("hexagon", "filled", dark.fill, dark) + " fontcolor=\"#ffffff\"";
    default:
      break;
  }
  if (its.empty()) return format("box", "rounded,filled", plain.fill, plain);
  const Tone& tone = tone_of(at(marks, its[0]));
  const std::string fills = fill(its, marks);
  return format("box", fills.find(':') == std::string::npos ? "rounded,filled" : "striped", fills, tone);
}

std::string swatch(std::string_view fill_colour, std::string_view line, const std::string& text) {
  return fmt::format(
      "<TD BGCOLOR=\"{}\" COLOR=\"{}\" BORDER=\"1\" WIDTH=\"16\" HEIGHT=\"12\" FIXEDSIZE=\"TRUE\"></TD>"
      "<TD ALIGN=\"LEFT\">{}   </TD>",
      fill_colour, line, text);
}

/// What is common to all drawings: the frame, the columns, and a legend below.
class Dot {
 public:
  Dot(const std::string& title, bool small) {
    add("digraph {{");
    add("  graph [rankdir=LR ranksep={} nodesep={} bgcolor=\"white\" fontname=\"sans-serif\" fontsize=12 "
        "fontcolor=\"{}\" labelloc=b labeljust=l tooltip=\"{}\"];",
        small ? 0.9 : 0.6, small ? 0.1 : 0.28, ink, escaped(title, 200));
    add("  node [fontname=\"sans-serif\" fontsize={} fontcolor=\"{}\" height={} width={} margin=\"{}\"];",
        small ? 9 : 12, ink, small ? 0.2 : 0.4, small ? 0.3 : 0.5, small ? "0.06,0.02" : "0.14,0.07");
    add("  edge [color=\"{}\" arrowsize={} penwidth={} fontname=\"sans-serif\" fontsize=9 fontcolor=\"{}\"];",
        small ? "#c3cad2" : "#98a2ad", small ? 0.4 : 0.7, small ? 0.6 : 1.0, faint);
  }

  template <class... Parts>
  void add(fmt::format_string<Parts...> line, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), line, std::forward<Parts>(parts)...);
    text_ += '\n';
  }

  /// A chain of faint words, each of which draws the members of its column to itself.
  void columns(const std::vector<std::string>& captions,
               const std::vector<std::vector<std::size_t>>& members) {
    for (std::size_t i = 0; i < captions.size(); ++i)
      add("  column{} [shape=plaintext style=\"\" label=\"{}\" fontsize=10 fontcolor=\"{}\" group=columns "
          "margin=0 height=0.2];",
          i, captions[i], faint);
    for (std::size_t i = 1; i < captions.size(); ++i)
      add("  column{} -> column{} [style=invis weight=100];", i - 1, i);
    for (std::size_t i = 0; i < captions.size(); ++i) {
      std::string names;
      for (const std::size_t member : members[i]) names += fmt::format(" item{};", member);
      add("  {{ rank=same; column{};{} }}", i, names);
    }
  }

  /// `violation` says what a red frame means, if there is one.
  std::string end(const std::string& title, const std::vector<Mark>& marks, const std::string& violation,
                  const std::string& remark) {
    constexpr std::size_t most_shown = 8;
    const auto row = [&](const std::string& cell) { add("<TR><TD ALIGN=\"LEFT\">{}</TD></TR>", cell); };
    std::string legend;
    for (std::size_t i = 0; i < std::min(most_shown, marks.size()); ++i) {
      const Tone& tone = tone_of(marks[i]);
      legend += swatch(tone.fill, tone.line, escaped(marks[i].name, 40));
    }
    if (!violation.empty()) legend += swatch("white", red, violation);
    add("  label=<<TABLE BORDER=\"0\" CELLBORDER=\"0\">");
    row(escaped(title, 200));
    if (!remark.empty()) row(fmt::format("<FONT COLOR=\"{}\">{}</FONT>", faint, escaped(remark, 300)));
    if (!legend.empty())
      row(fmt::format("<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"2\"><TR>{}</TR></TABLE>", legend));
    add("</TABLE>>;\n}}");
    return std::move(text_);
  }

 private:
  std::string text_;
};

/// Column captions for levels, and one more for rewards if there are any.
std::vector<std::string> captions(std::vector<std::pair<int, int>> bands, bool rewards) {
  std::vector<std::string> out;
  for (const auto& band : bands) out.push_back(level_caption(band));
  if (rewards) out.emplace_back("rewards");
  return out;
}

std::string draw_items(const Overview& view, const std::string& title) {
  const bool small = view.items.size() > most_in_words;
  Dot dot(title, small);
  std::vector<std::pair<int, int>> bands;
  for (int level = 0; level < view.levels; ++level) bands.emplace_back(level, level);
  std::vector<std::vector<std::size_t>> members(bands.size() + 1);
  std::vector<bool> met(view.items.size());
  for (const Proof& proof : view.proofs) at(met, proof.child) = true;
  for (std::size_t i = 0; i < view.items.size(); ++i) at(members, view.items[i].level).push_back(i);
  dot.columns(captions(bands, !members.back().empty()), members);

  for (std::size_t i = 0; i < view.items.size(); ++i) {
    const Item& item = view.items[i];
    std::string label = escaped(item.name, small ? 24 : 32);
    if (!small && item.look != Look::reward) {
      label += "\\n" + escaped(caption(item), 40);
      std::vector<std::string> estimators;
      for (const int mark : item.marks) estimators.push_back(escaped(at(view.marks, mark).name, 30));
      if (!estimators.empty()) label += fmt::format("\\n{}", fmt::join(estimators, ", "));
    } else if (item.units > 1) {
      label += fmt::format(" ×{}", item.units);
    }
    // The shape of inputs takes less room for its tip than it draws.
    std::string emphasis = item.look == Look::input && !small ? " margin=\"0.2,0.12\"" : "";
    if (item.violates) emphasis += fmt::format(" color=\"{}\" penwidth=2.2", red);
    if (met[i])
      emphasis += fmt::format("{} peripheries=2", item.violates ? "" : fmt::format(" color=\"{}\"", orange));
    dot.add("  item{} [label=\"{}\" tooltip=\"{}, {}\" {}{}];", i, label, escaped(item.name, 200),
            escaped(caption(item), 100), appearance(item.look, item.marks, view.marks), emphasis);
  }
  for (const ItemLink& link : view.links) {
    std::vector<std::string> how;
    if (link.sparse) how.emplace_back("style=dashed");
    if (link.sparse && !small)
      how.push_back(fmt::format("label=\"{} of {} pairs\"", link.pairs, link.all_pairs));
    if (link.on_edge || link.on_route)
      how.push_back(fmt::format("color=\"{}\" penwidth={}", link.on_edge ? red : orange,
                                (link.on_edge ? 2.2 : 1.6) * (small ? 0.7 : 1)));
    dot.add("  item{} -> item{} [{}];", link.from, link.to, fmt::join(how, " "));
  }
  return dot.end(
      title, view.marks,
      view.proofs.empty()
          ? ""
          // A blank that begins a text is lost in SVG, one that ends it does no harm. Viewers' letters
          // are wider than Graphviz thinks: a long text has a cell of its own, with room behind it.
          : fmt::format(
                "violates Assumption 1:</TD><TD ALIGN=\"LEFT\">the <FONT COLOR=\"{}\">edge </FONT>and the "
                "<FONT COLOR=\"{}\">longer route </FONT>meet in one child",
                red, orange),
      "");
}

std::string draw_groups(const LevelView& view, const std::string& title) {
  Dot dot(title, false);
  std::vector<std::vector<std::size_t>> members(view.bands.size() + 1);
  for (std::size_t i = 0; i < view.groups.size(); ++i) at(members, view.groups[i].band).push_back(i);
  dot.columns(captions(view.bands, !members.back().empty()), members);

  bool violations = false;
  for (std::size_t i = 0; i < view.groups.size(); ++i) {
    const Group& group = view.groups[i];
    std::string label = escaped(group.kind, 40);
    if (group.look != Look::reward) {
      label += "\\n" + counted(group.nodes, "node");
      if (group.units > group.nodes) label += ", " + counted(group.units, "unit");
    } else {
      label = counted(group.nodes, "reward");
    }
    std::vector<int> its;  // the colour of the most frequent; the words tell the others
    std::size_t most = 0;
    for (const auto& [mark, nodes] : group.marks) {
      if (nodes > most) its = {mark};
      most = std::max(most, nodes);
      label += fmt::format("\\n{} {}", escaped(at(view.marks, mark).name, 30), nodes);
    }
    std::string emphasis;
    if (group.violating > 0) {
      violations = true;
      label += "\\n" + counted(group.violating, "violation");
      emphasis = fmt::format(" color=\"{}\" penwidth=2.2", red);
    }
    dot.add("  item{} [label=\"{}\" {}{}];", i, label, appearance(group.look, its, view.marks), emphasis);
  }
  for (const GroupLink& link : view.links)
    dot.add("  item{} -> item{} [penwidth={:.1f} tooltip=\"{}\"];", link.from, link.to,
            0.6 + 0.5 * std::log10(static_cast<double>(link.edges)), counted(link.edges, "edge"));
  std::string remark = "Too many to draw one by one: a box stands for all nodes of one level and kind.";
  if (view.links_left_out > 0)
    remark += fmt::format(" The {} with fewest edges are left out.", counted(view.links_left_out, "line"));
  return dot.end(title, view.marks, violations ? "some violate Assumption 1" : "", remark);
}

}  // namespace

std::string drawing_dot(const Graph& graph, const Report& report) {
  const std::string title = headline(graph, report);
  return fits(graph, drawing_limits) ? draw_items(overview(graph, report), title)
                                     : draw_groups(level_view(graph, report), title);
}

DrawEnd draw(const Graph& graph, const Report& report, const fs::path& out, const fs::path& read) {
  const std::string ending = out.extension().string();
  constexpr std::array<std::string_view, 4> endings{".svg", ".png", ".pdf", ".dot"};
  if (std::find(endings.begin(), endings.end(), ending) == endings.end())
    refuse({.code = "draw-format",
            .message = fmt::format("'{}' ends in none of .svg, .png, .pdf and .dot", out.string()),
            .help = {"hindsight draw graph.dot -o graph.svg"}});
  const std::string dot = drawing_dot(graph, report);
  if (ending == ".dot") {
    write_atomically(out, dot);
    return {.written = out, .message = out.string()};
  }
  const TemporaryFolder folder;
  write_atomically(folder.path() / "drawing.dot", dot);
  const ProgramEnd end = run_in(folder.path(), {"dot", "-T" + ending.substr(1), "-odrawing", "drawing.dot"});
  if (!end.started) {
    const fs::path beside = out.string() + ".dot";  // not graph.dot, which the graph often comes from
    keep_files_apart({read}, {beside});
    write_atomically(beside, dot);
    return {
        .written = beside,
        .drawn = false,
        .message = fmt::format("Graphviz cannot be started; its input is in {0}: apt-get install graphviz "
                               "&& dot -T{1} {0} -o {2}",
                               beside.string(), ending.substr(1), out.string())};
  }
  if (!end.succeeded)
    refuse({.code = "graphviz",
            .message = fmt::format("Graphviz could not draw '{}': {}", out.string(), end.reason),
            .help = {
                fmt::format("hindsight draw graph.dot -o {}.dot   # its input, to look at", out.string())}});
  write_atomically(out, read_file(folder.path() / "drawing"));
  return {.written = out, .message = out.string()};
}

}  // namespace hindsight::tool
