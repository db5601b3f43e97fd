// SSD with priors: class scores [1, N, C] and locations [1, N, 4], N priors in the order of the heads. With prior (cx,
// cy, w, h) and `variances` (default 0.1, 0.1, 0.2, 0.2): centre = c + l · v · size, size = size · exp(l · v), all as
// fractions of the input. Further numbers: those of ssd_priors.h;
//   background  the class that is nothing, counted out of the labels (default 0; −1: there is none)
//   softmax     1: the scores are logits over all classes of a row
//   corners     1: locations are corners x_min, y_min, x_max, y_max already, as fractions; no priors are needed
// Roles come from `names` ("scores", "locations"), else from the shape: the output with four columns are locations (the
// last of them, when there are two).
// Source: Liu et al., "SSD: Single Shot MultiBox Detector", arXiv 1512.02325, section 2.2.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"
#include "elements/postprocess/decoders/ssd_priors.h"

namespace npustream::elements {
namespace {

struct SsdOptions {
  size_t scores = 0, locations = 0;
  int64_t rows = 0, classes = 0;  // `classes` counts the background
  int64_t background = 0;
  bool softmax = false, corners = false;
  std::array<float, 4> variances{};
  float input_width = 0, input_height = 0;
};

class SsdDecoder : public BoxDecoder {
 public:
  SsdDecoder(const SsdOptions& options, std::vector<Prior> priors) : options_(options), priors_(std::move(priors)) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    const float* scores = tensors[options_.scores];
    const float* location = tensors[options_.locations];
    for (int64_t row = 0; row < options_.rows; ++row, scores += options_.classes, location += 4) {
      const BestClass best = BestOf(scores);
      const float confidence = options_.softmax ? Softmax(scores, best.score) : best.score;
      if (!(confidence >= threshold)) continue;
      AppendCandidate(options_.corners ? CornerBox(location) : PriorBox(priors_[row], location), confidence,
                      best.label_id, threshold, candidates);
    }
  }

 private:
  // The best class other than the background, as an index into the labels.
  BestClass BestOf(const float* scores) const {
    if (options_.background < 0) return FindBestClass(scores, options_.classes);
    BestClass before = FindBestClass(scores, options_.background);
    BestClass after = FindBestClass(scores + options_.background + 1, options_.classes - options_.background - 1);
    if (after.label_id >= 0) after.label_id += static_cast<int32_t>(options_.background);
    return before.label_id >= 0 && before.score >= after.score ? before : after;
  }

  float Softmax(const float* scores, float score) const {
    const float greatest = GreatestScore(scores, options_.classes);
    float sum = 0;
    for (int64_t c = 0; c < options_.classes; ++c) sum += std::exp(scores[c] - greatest);
    return std::exp(score - greatest) / sum;
  }

  Box CornerBox(const float* corners) const {
    return {corners[0] * options_.input_width, corners[1] * options_.input_height, corners[2] * options_.input_width,
            corners[3] * options_.input_height};
  }

  Box PriorBox(const Prior& prior, const float* location) const {
    const std::array<float, 4>& v = options_.variances;
    const float x = prior.center_x + location[0] * v[0] * prior.width;
    const float y = prior.center_y + location[1] * v[1] * prior.height;
    return BoxAround(x * options_.input_width, y * options_.input_height,
                     prior.width * std::exp(location[2] * v[2]) * options_.input_width,
                     prior.height * std::exp(location[3] * v[3]) * options_.input_height);
  }

  const SsdOptions options_;
  const std::vector<Prior> priors_;
};

Status FindRoles(const DecoderInputs& inputs, SsdOptions& options) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::optional<size_t> scores, NamedOutput(inputs, "scores"));
  NPUSTREAM_ASSIGN_OR_RETURN(std::optional<size_t> locations, NamedOutput(inputs, "locations"));
  for (size_t i = inputs.outputs.size(); i-- > 0;) {
    const std::vector<int64_t>& dims = inputs.outputs[i].dims;
    if (dims.size() != 3 || i == scores || i == locations) continue;
    if (!locations && dims[2] == 4) {
      locations = i;
    } else if (!scores) {
      scores = i;
    }
  }
  if (!scores || !locations) return DoesNotFit(inputs, "scores [1, N, classes] and locations [1, N, 4]");
  const std::vector<int64_t>& score_dims = inputs.outputs[*scores].dims;
  const std::vector<int64_t>& location_dims = inputs.outputs[*locations].dims;
  if (score_dims.size() != 3 || location_dims.size() != 3 || score_dims[1] != location_dims[1] ||
      location_dims[2] != 4) {
    return DoesNotFit(inputs, "scores [1, N, classes] and locations [1, N, 4] with the same N");
  }
  options.scores = *scores;
  options.locations = *locations;
  options.rows = score_dims[1];
  options.classes = score_dims[2];
  return Status();
}

Status ReadNumbers(const DecoderInputs& inputs, SsdOptions& options) {
  NPUSTREAM_ASSIGN_OR_RETURN(const double background, Number(inputs, "background", 0));
  NPUSTREAM_ASSIGN_OR_RETURN(const double softmax, Number(inputs, "softmax", 0));
  NPUSTREAM_ASSIGN_OR_RETURN(const double corners, Number(inputs, "corners", 0));
  const std::vector<double> variances = Numbers(inputs, "variances", {0.1, 0.1, 0.2, 0.2});
  if (variances.size() != 2 && variances.size() != 4) {
    return Status(StatusCode::kInvalidArgument, "'variances' must be two numbers (centre, size) or four");
  }
  const size_t step = variances.size() / 2;
  options.variances = {static_cast<float>(variances[0]), static_cast<float>(variances[step - 1]),
                       static_cast<float>(variances[step]), static_cast<float>(variances.back())};
  options.background = static_cast<int64_t>(background);
  options.softmax = softmax != 0;
  options.corners = corners != 0;
  options.input_width = static_cast<float>(inputs.input_width);
  options.input_height = static_cast<float>(inputs.input_height);
  if (options.background >= options.classes || options.classes - (options.background >= 0 ? 1 : 0) < 1) {
    return DoesNotFit(inputs, fmt::format("a class besides the background {}", options.background));
  }
  return Status();
}

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateSsdDecoder(const DecoderInputs& inputs) {
  SsdOptions options;
  NPUSTREAM_RETURN_IF_ERROR(FindRoles(inputs, options));
  NPUSTREAM_RETURN_IF_ERROR(ReadNumbers(inputs, options));
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, options.classes - (options.background >= 0 ? 1 : 0)));
  if (options.corners) return std::unique_ptr<BoxDecoder>(std::make_unique<SsdDecoder>(options, std::vector<Prior>()));
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<Prior> priors, SsdPriors(inputs));
  if (static_cast<int64_t>(priors.size()) != options.rows) {
    return DoesNotFit(inputs, fmt::format("{} rows, one per prior", priors.size()));
  }
  return std::unique_ptr<BoxDecoder>(std::make_unique<SsdDecoder>(options, std::move(priors)));
}

}  // namespace npustream::elements
