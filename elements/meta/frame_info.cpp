#include "elements/meta/frame_info.h"

namespace npustream::elements {

std::string_view ToString(InferenceSkipped reason) {
  switch (reason) {
    case InferenceSkipped::kNo: return "";
    case InferenceSkipped::kInterval: return "interval";
    case InferenceSkipped::kQueueFull: return "queue-full";
    case InferenceSkipped::kDeadline: return "deadline";
    case InferenceSkipped::kPreprocess: return "preprocess";
  }
  return "";
}

}  // namespace npustream::elements
