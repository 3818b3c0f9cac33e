// Stands for a source of the library that owns a matrix.
#include <Eigen/Core>

double squared_length(const double* numbers, long count);

double squared_length(const double* numbers, long count) {
  const Eigen::VectorXd copy = Eigen::Map<const Eigen::VectorXd>(numbers, count);
  return copy.squaredNorm();
}
