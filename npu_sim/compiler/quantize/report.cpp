#include "npu_sim/compiler/quantize/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace npustream::compiler {
namespace {

size_t IntegerLayers(const QuantizationScheme& scheme) {
  return static_cast<size_t>(std::count_if(scheme.layers.begin(), scheme.layers.end(),
                                           [](const LayerReport& layer) { return layer.integer; }));
}

}  // namespace

std::string ReportText(const QuantizationScheme& scheme) {
  std::string text = fmt::format("{:<40} {:<5} {:>22} {:>9} {:>8} {:>10} {}\n", "layer", "type", "range of its input",
                                 "cosine", "SQNR dB", "max error", "remark");
  for (const LayerReport& layer : scheme.layers) {
    text += fmt::format("{:<40} {:<5} {:>10.4g} …{:>10.4g} {:>9.6f} {:>8.2f} {:>10.4g} {}\n", layer.name,
                        layer.integer ? "int8" : "fp32", layer.input_low, layer.input_high, layer.cosine,
                        layer.sqnr_db, layer.max_error, layer.reason);
  }
  return text + fmt::format("{} of {} layers run on 8-bit integers; ranges by {} over {} samples; relative error of the "
                            "heads {:.4f}\n",
                            IntegerLayers(scheme), scheme.layers.size(), scheme.method, scheme.samples,
                            scheme.output_error);
}

std::string ReportJson(const QuantizationScheme& scheme) {
  nlohmann::ordered_json report{{"schema_version", 1},
                                {"method", scheme.method},
                                {"samples", scheme.samples},
                                {"output_error", scheme.output_error},
                                {"integer_layers", IntegerLayers(scheme)},
                                {"computed_functions", scheme.computed.size()},
                                {"layers", nlohmann::ordered_json::array()}};
  for (const LayerReport& layer : scheme.layers) {
    nlohmann::ordered_json entry{{"name", layer.name},
                                 {"output", layer.output},
                                 {"type", layer.integer ? "int8" : "fp32"},
                                 {"input_range", {layer.input_low, layer.input_high}},
                                 {"input_scale", layer.input_scale},
                                 {"cosine", layer.cosine},
                                 {"sqnr_db", layer.sqnr_db},
                                 {"max_error", layer.max_error}};
    if (!layer.reason.empty()) entry["reason"] = layer.reason;
    if (layer.own_error >= 0) entry["own_error"] = layer.own_error;
    report["layers"].push_back(std::move(entry));
  }
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace npustream::compiler
