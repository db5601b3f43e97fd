#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "elements/meta/detection_result.h"
#include "elements/meta/inference_data.h"
#include "elements/postprocess/npu_postprocess.h"

namespace npustream::elements {

// What a user sets in place of the model description's values.
struct PostprocessOverrides {
  std::optional<float> threshold;
  std::optional<float> nms_iou;
  std::optional<bool> nms_agnostic;
  std::optional<int> max_detections;
  std::vector<std::string> labels;       // empty: the description's
  std::set<std::string> object_classes;  // labels that are kept; empty: all
  std::string profile;                   // goes into the results
};

// Turns a model's output tensors into the result for the frame: boxes, labels, the model's name. Keeps one
// Postprocessor per model it has met. For one thread.
class ResultBuilder {
 public:
  explicit ResultBuilder(PostprocessOverrides overrides) : overrides_(std::move(overrides)) {}
  // Whether results of the model can be built at all; the same errors as Build's.
  Status Check(const ModelBinding& model) { return Prepare(model).status(); }
  // kInvalidArgument when the model's outputs do not fit its decoder, are not float32 or an override is out of range.
  Result<DetectionResult> Build(const ModelOutput& output);

 private:
  struct Prepared {
    std::unique_ptr<Postprocessor> postprocessor;
    std::vector<std::string> labels;
  };
  Result<const Prepared*> Prepare(const ModelBinding& model);
  const PostprocessOverrides overrides_;
  std::map<std::string, Prepared> prepared_;  // by the binding's key
};

// The labels named in a comma-separated list, blanks around them dropped.
std::set<std::string> ParseClassList(const std::string& text);

}  // namespace npustream::elements
