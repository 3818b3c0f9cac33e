#pragma once

#include <optional>
#include <string_view>

namespace hindsight::tool {

/// What is not ours of the page, as it lies in the program.
struct PageLibraries {
  std::string_view cytoscape;
  std::string_view dagre;
  std::string_view dagre_licence;
};

/// The files of the folder page/, as they lie in the program.
struct EmbeddedPage {
  std::string_view html;
  std::string_view style;
  std::string_view arrange;
  std::string_view drawing;
  std::string_view details;
  std::string_view page;
  std::optional<PageLibraries> libraries;  ///< none: they were not there when the program was built
};

EmbeddedPage embedded_page();

}  // namespace hindsight::tool
