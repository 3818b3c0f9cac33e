#include "lab/methods.hpp"

namespace hindsight::lab {

const std::vector<Method>& known_methods() {
  static const std::vector<Method> methods{{"hnca", "HNCA"},
                                           {"reinforce", "REINFORCE"},
                                           {"backprop-tanh", "backprop, tanh"},
                                           {"backprop-sigmoid", "backprop, sigmoid"},
                                           {"backprop-relu", "backprop, ReLU"}};
  return methods;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : known_methods()) names.push_back(method.name);
  return names;
}

}  // namespace hindsight::lab
