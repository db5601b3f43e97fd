#pragma once

#include <cstddef>
#include <span>

namespace npustream::compiler {

// How far values are from what they should be, added up over any number of tensors' parts.
class ErrorSum {
 public:
  // As many of both. Values that are not finite in either are left out.
  void Add(std::span<const float> real, std::span<const float> found);

  // √(Σ difference² / Σ real²); 0 when there is no difference, 1 when there is one and all real values are 0.
  double Relative() const;
  // Energy of the real values over that of the difference in dB, at most 200.
  double SqnrDb() const;
  // The cosine of the angle between both; 1 when both are 0.
  double Cosine() const;
  double Largest() const { return largest_; }

 private:
  double signal_ = 0, found_ = 0, product_ = 0, noise_ = 0, largest_ = 0;
};

}  // namespace npustream::compiler
