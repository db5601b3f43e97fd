#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/om_reader.h"

namespace npustream::program {

// The lowering of a plan that is stored in the file for this CPU, packed as its kernels expect it; else null.
const om::NativePlan* StoredPlan(const om::OmFile& file, size_t plan);

// The lowered plans of a file, one for each of its plans: those stored in it where there are some for this CPU, else
// made anew from the portable weights, with the same results. They may point into the file, which must outlive them.
class NativePlans {
 public:
  static Result<NativePlans> Of(const om::OmFile& file);

  size_t size() const { return plans_.size(); }
  const om::NativePlan& operator[](size_t plan) const { return *plans_[plan]; }
  double making_ms() const { return making_ms_; }  // how long finding or making them took
  auto begin() const { return plans_.begin(); }
  auto end() const { return plans_.end(); }

 private:
  std::vector<std::unique_ptr<const om::NativePlan>> made_;
  std::vector<const om::NativePlan*> plans_;
  double making_ms_ = 0;
};

}  // namespace npustream::program
