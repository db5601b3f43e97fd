// Products with a constant matrix that are marked for bfloat16, against a plain loop, on whatever instruction set this
// process uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "npu_sim/program/lowering.h"
#include "tests/npu_sim/support/bf16.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using testing_support::RoundedToBf16;

struct Case {
  int64_t rows, depth, columns;
  bool transposed, bias;
};

TEST(MatMulTest, InBf16WhereTheCpuHasTiles) {
  const bool amx = RunningIsa() == Isa::kAmx;
  const Case cases[] = {{1, 48, 10, false, true},   {1, 1280, 100, true, true},  {16, 32, 16, false, false},
                        {33, 33, 33, true, true},   {100, 7, 5, false, true},    {50, 200, 49, true, false},
                        {130, 1500, 64, false, true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.rows << "x" << c.depth << "x" << c.columns);
    const auto x = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.rows * c.depth), 1);
    const auto w = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.depth * c.columns), 2);
    const auto bias = om::GraphBuilder::RandomFloats(static_cast<size_t>(c.columns), 3);
    om::GraphBuilder b;
    const om::Dims matrix = c.transposed ? om::Dims{c.columns, c.depth} : om::Dims{c.depth, c.columns};
    std::vector<om::TensorId> inputs = {b.Input({c.rows, c.depth}), b.Floats(matrix, w)};
    if (c.bias) inputs.push_back(b.Floats({c.columns}, bias));
    b.Output(b.Node("Gemm", inputs, {c.rows, c.columns},
                    {{"transB", int64_t{c.transposed}}, {"activation", std::string("Relu")},
                     {"compute_type", std::string("bfloat16")}}));
    const auto plan = program::Lower(b.graph());
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan->steps[0].implementation == "bfloat16 amx", amx);
    const auto got = program::EvaluateGraph(b.graph(), {om::ToBytes(x)});
    ASSERT_TRUE(got.ok()) << got.status().message();
    const auto y = om::FromBytes<float>((*got)[0]);
    const auto operand = [&](float value) { return amx ? RoundedToBf16(value) : value; };
    for (int64_t r = 0; r < c.rows; ++r) {
      for (int64_t n = 0; n < c.columns; ++n) {
        double sum = c.bias ? bias[static_cast<size_t>(n)] : 0;
        for (int64_t k = 0; k < c.depth; ++k) {
          sum += static_cast<double>(operand(x[static_cast<size_t>(r * c.depth + k)])) *
                 operand(w[static_cast<size_t>(c.transposed ? n * c.depth + k : k * c.columns + n)]);
        }
        ASSERT_NEAR(y[static_cast<size_t>(r * c.columns + n)], std::max(sum, 0.0),
                    1e-5 * std::sqrt(static_cast<double>(c.depth)) + 1e-5) << r << " " << n;
      }
    }
  }
}

}  // namespace
}  // namespace npustream::kernels
