#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::compiler {

// An output of a model whose one input is x, without any optimisation.
inline std::vector<float> Compute(const OnnxModel& model, const std::vector<float>& x, size_t output = 0) {
  const auto graph = ImportModel(model, {});
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().message();
    return {};
  }
  const auto result = program::EvaluateGraph(*graph, {om::ToBytes(x)});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? om::FromBytes<float>((*result)[output]) : std::vector<float>{};
}

}  // namespace npustream::compiler
