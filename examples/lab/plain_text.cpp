#include "lab/plain_text.hpp"

#include <nlohmann/json.hpp>

namespace hindsight::lab {

std::string one_line(const std::string& text, std::size_t shown) {
  using Json = nlohmann::json;
  auto line = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  // Characters of Unicode that XML forbids all the same.
  for (const char* forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = 0; (at = line.find(forbidden, at)) != std::string::npos;) line.replace(at, 3, " ");
  if (line.size() <= shown) return line;
  while ((static_cast<unsigned char>(line[shown]) & 0xC0U) == 0x80U) --shown;
  return line.substr(0, shown) + "…";
}

}  // namespace hindsight::lab
