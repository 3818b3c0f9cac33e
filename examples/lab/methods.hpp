#pragma once

#include <string>
#include <vector>

namespace hindsight::lab {

/// A way to learn, as options and results call it and as figures call it.
struct Method {
  std::string name;
  std::string label;
};

/// The methods of the paper, in the order of its legends.
const std::vector<Method>& known_methods();
/// Their names alone.
std::vector<std::string> method_names();

}  // namespace hindsight::lab
