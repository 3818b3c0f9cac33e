#include "tool/embedded_page.hpp"

#include "tool/embed_file.hpp"

HINDSIGHT_EMBED(hindsight_page_html, HINDSIGHT_PAGE_DIRECTORY "/page.html");
HINDSIGHT_EMBED(hindsight_page_style, HINDSIGHT_PAGE_DIRECTORY "/page.css");
HINDSIGHT_EMBED(hindsight_page_arrange, HINDSIGHT_PAGE_DIRECTORY "/arrange.js");
HINDSIGHT_EMBED(hindsight_page_drawing, HINDSIGHT_PAGE_DIRECTORY "/drawing.js");
HINDSIGHT_EMBED(hindsight_page_details, HINDSIGHT_PAGE_DIRECTORY "/details.js");
HINDSIGHT_EMBED(hindsight_page_page, HINDSIGHT_PAGE_DIRECTORY "/page.js");
#ifdef HINDSIGHT_PAGE_MODULES
HINDSIGHT_EMBED(hindsight_page_cytoscape, HINDSIGHT_PAGE_MODULES "/cytoscape/dist/cytoscape.min.js");
HINDSIGHT_EMBED(hindsight_page_dagre, HINDSIGHT_PAGE_MODULES "/@dagrejs/dagre/dist/dagre.min.js");
HINDSIGHT_EMBED(hindsight_page_dagre_licence, HINDSIGHT_PAGE_MODULES "/@dagrejs/dagre/LICENSE");
#endif

namespace hindsight::tool {
namespace {

std::string_view text(const std::byte* bytes, std::uint32_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

EmbeddedPage embedded_page() {
  EmbeddedPage page{.html = text(hindsight_page_html, hindsight_page_html_size),
                    .style = text(hindsight_page_style, hindsight_page_style_size),
                    .arrange = text(hindsight_page_arrange, hindsight_page_arrange_size),
                    .drawing = text(hindsight_page_drawing, hindsight_page_drawing_size),
                    .details = text(hindsight_page_details, hindsight_page_details_size),
                    .page = text(hindsight_page_page, hindsight_page_page_size),
                    .libraries = {}};
#ifdef HINDSIGHT_PAGE_MODULES
  page.libraries =
      PageLibraries{.cytoscape = text(hindsight_page_cytoscape, hindsight_page_cytoscape_size),
                    .dagre = text(hindsight_page_dagre, hindsight_page_dagre_size),
                    .dagre_licence = text(hindsight_page_dagre_licence, hindsight_page_dagre_licence_size)};
#endif
  return page;
}

}  // namespace hindsight::tool
