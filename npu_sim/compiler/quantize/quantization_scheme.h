#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "npu_sim/compiler/quantize/range.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// What became of a layer (a convolution with constant weights), for the report.
struct LayerReport {
  std::string name;    // of the node, which is the model's own for one that no fusion has merged
  std::string output;  // the tensor that it writes
  bool integer = false;
  std::string reason;  // why not, when it is not
  // The range of what it reads, as its bytes have it.
  float input_low = 0, input_high = 0, input_scale = 0;
  // Of its result in the quantised network against the real one, over the pictures that were compared: the cosine of the
  // angle between them, and the energy of the signal over that of the difference in dB.
  double cosine = 1, sqnr_db = 0;
  double max_error = 0;
  // Error of the network's heads when this layer alone is quantised; −1 when nobody had to know.
  double own_error = -1;
};

// A tensor whose channels are multiplied by factors before it becomes bytes (channel_factors.h).
struct FactoredTensor {
  std::vector<float> factors;      // by channel
  om::Quantization quantization;  // of the products
};

// How a model is quantised: everything that the pass InsertQuantization has to know, by name, so that it holds for every
// batch size of the model.
struct QuantizationScheme {
  std::map<std::string, om::Quantization> tensors;  // of activations
  // Means of activations by channel (axis 1): what rounded weights make of them is taken out of the bias.
  std::map<std::string, std::vector<float>> means;
  // In place of `tensors`, where the graph allows it and no table makes the tensor.
  std::map<std::string, FactoredTensor> factored;
  // Whether functions behind convolutions are looked up in tables of bytes (quick), instead of computed (exact); and the
  // results of those that are computed nevertheless.
  bool tables = true;
  std::set<std::string> computed;
  std::set<std::string> real_nodes;                 // what stays on real numbers, see StaysReal

  // For people.
  std::string method;
  size_t samples = 0;
  std::vector<LayerReport> layers;
  // Of the network's heads, see QuantizationOptions::error_limit.
  double output_error = 0;
};

}  // namespace npustream::compiler
