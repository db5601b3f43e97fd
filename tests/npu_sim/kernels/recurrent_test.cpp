// LSTM, GRU and RNN against the formulas of the ONNX standard in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using Doubles = std::vector<double>;

struct Case {
  const char* op = "LSTM";
  int64_t steps = 5, rows = 3, in = 7, hidden = 19;
  const char* direction = "forward";
  bool bias = true, initial = true, peepholes = false, linear_before_reset = false;
  float clip = 0;

  bool IsLstm() const { return std::string(op) == "LSTM"; }
  bool IsGru() const { return std::string(op) == "GRU"; }
  int64_t Gates() const { return IsLstm() ? 4 : IsGru() ? 3 : 1; }
  int64_t Directions() const { return std::string(direction) == "bidirectional" ? 2 : 1; }
};

struct Data {
  explicit Data(const Case& c) {
    const auto count = [](int64_t a, int64_t b, int64_t d) { return static_cast<size_t>(a * b * d); };
    const int64_t d = c.Directions(), columns = c.Gates() * c.hidden;
    x = om::GraphBuilder::RandomFloats(count(c.steps, c.rows, c.in), 1);
    w = om::GraphBuilder::RandomFloats(count(d, columns, c.in), 2);
    r = om::GraphBuilder::RandomFloats(count(d, columns, c.hidden), 3);
    b = om::GraphBuilder::RandomFloats(count(d, 2, columns), 4);
    h = om::GraphBuilder::RandomFloats(count(d, c.rows, c.hidden), 5);
    cell = om::GraphBuilder::RandomFloats(count(d, c.rows, c.hidden), 6);
    p = om::GraphBuilder::RandomFloats(count(d, 3, c.hidden), 7);
    if (!c.bias) std::fill(b.begin(), b.end(), 0.0f);
    if (!c.initial) std::fill(h.begin(), h.end(), 0.0f), std::fill(cell.begin(), cell.end(), 0.0f);
    if (!c.peepholes) std::fill(p.begin(), p.end(), 0.0f);
  }
  std::vector<float> x, w, r, b, h, cell, p;
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One row of one direction through all steps.
class Row {
 public:
  Row(const Case& c, const Data& data, int64_t direction, int64_t row) : c_(c), data_(data), d_(direction), row_(row) {
    const int64_t at = (d_ * c.rows + row) * c.hidden;
    for (int64_t i = 0; i < c.hidden; ++i) {
      h.push_back(static_cast<double>(data.h[static_cast<size_t>(at + i)]));
      cell.push_back(static_cast<double>(data.cell[static_cast<size_t>(at + i)]));
    }
  }

  void Step(int64_t t) {
    const Doubles before = h;
    if (c_.IsLstm()) return Lstm(t, before);
    for (int64_t i = 0; i < c_.hidden && !c_.IsGru(); ++i)
      h[static_cast<size_t>(i)] = std::tanh(Clip(FromInput(t, 0, i) + FromState(before, 0, i)));
    if (c_.IsGru()) Gru(t, before);
  }

  Doubles h, cell;

 private:
  double Clip(double x) const {
    const auto clip = static_cast<double>(c_.clip);
    return clip > 0 ? std::clamp(x, -clip, clip) : x;
  }
  double Bias(int64_t gate, int64_t i, bool recurrent) const {
    const int64_t columns = c_.Gates() * c_.hidden;
    return static_cast<double>(
        data_.b[static_cast<size_t>((d_ * 2 + (recurrent ? 1 : 0)) * columns + gate * c_.hidden + i)]);
  }
  double FromInput(int64_t t, int64_t gate, int64_t i) const {
    double sum = Bias(gate, i, false);
    for (int64_t k = 0; k < c_.in; ++k) {
      const int64_t w = ((d_ * c_.Gates() + gate) * c_.hidden + i) * c_.in + k;
      sum += static_cast<double>(data_.x[static_cast<size_t>((t * c_.rows + row_) * c_.in + k)]) *
             static_cast<double>(data_.w[static_cast<size_t>(w)]);
    }
    return sum;
  }
  double FromState(const Doubles& state, int64_t gate, int64_t i) const {
    double sum = Bias(gate, i, true);
    for (int64_t k = 0; k < c_.hidden; ++k) {
      const int64_t r = ((d_ * c_.Gates() + gate) * c_.hidden + i) * c_.hidden + k;
      sum += state[static_cast<size_t>(k)] * static_cast<double>(data_.r[static_cast<size_t>(r)]);
    }
    return sum;
  }
  double Peephole(int64_t gate, int64_t i) const {
    return static_cast<double>(data_.p[static_cast<size_t>((d_ * 3 + gate) * c_.hidden + i)]);
  }

  void Lstm(int64_t t, const Doubles& before) {
    for (int64_t i = 0; i < c_.hidden; ++i) {
      const auto at = static_cast<size_t>(i);
      const auto gate = [&](int64_t g) { return FromInput(t, g, i) + FromState(before, g, i); };
      const double input = Sigmoid(Clip(gate(0) + Peephole(0, i) * cell[at]));
      const double forget = Sigmoid(Clip(gate(2) + Peephole(2, i) * cell[at]));
      cell[at] = forget * cell[at] + input * std::tanh(Clip(gate(3)));
      h[at] = Sigmoid(Clip(gate(1) + Peephole(1, i) * cell[at])) * std::tanh(cell[at]);
    }
  }

  void Gru(int64_t t, const Doubles& before) {
    Doubles reset, scaled;
    for (int64_t i = 0; i < c_.hidden; ++i) {
      reset.push_back(Sigmoid(Clip(FromInput(t, 1, i) + FromState(before, 1, i))));
      scaled.push_back(reset.back() * before[static_cast<size_t>(i)]);
    }
    for (int64_t i = 0; i < c_.hidden; ++i) {
      const auto at = static_cast<size_t>(i);
      const double update = Sigmoid(Clip(FromInput(t, 0, i) + FromState(before, 0, i)));
      const double state = c_.linear_before_reset ? reset[at] * FromState(before, 2, i) : FromState(scaled, 2, i);
      h[at] = (1 - update) * std::tanh(Clip(FromInput(t, 2, i) + state)) + update * before[at];
    }
  }

  const Case& c_;
  const Data& data_;
  int64_t d_, row_;
};

om::Graph MakeGraph(const Case& c, const Data& data) {
  om::GraphBuilder builder;
  const int64_t d = c.Directions(), columns = c.Gates() * c.hidden;
  const om::Dims state = {d, c.rows, c.hidden};
  const om::TensorId x = builder.Input({c.steps, c.rows, c.in});
  std::vector<om::TensorId> inputs = {x, builder.Floats({d, columns, c.in}, data.w),
                                      builder.Floats({d, columns, c.hidden}, data.r)};
  inputs.push_back(c.bias ? builder.Floats({d, 2 * columns}, data.b) : om::kNoTensor);
  inputs.push_back(c.initial ? builder.Floats(state, data.h) : om::kNoTensor);
  if (c.IsLstm()) {
    inputs.push_back(c.initial ? builder.Floats(state, data.cell) : om::kNoTensor);
    inputs.push_back(c.peepholes ? builder.Floats({d, 3 * c.hidden}, data.p) : om::kNoTensor);
  }
  std::string names = c.IsLstm() ? "Sigmoid,Tanh,Tanh" : c.IsGru() ? "Sigmoid,Tanh" : "Tanh";
  size_t functions = c.IsLstm() ? 3 : c.IsGru() ? 2 : 1;
  if (d == 2) names += "," + names, functions *= 2;
  std::vector<om::Dims> results = {{c.steps, d, c.rows, c.hidden}, state};
  if (c.IsLstm()) results.push_back(state);
  const auto outputs = builder.Nodes(c.op, inputs, results,
                                     {{"direction", c.direction},
                                      {"activations", names},
                                      {"alphas", std::vector<float>(functions)},
                                      {"betas", std::vector<float>(functions)},
                                      {"clip", c.clip},
                                      {"linear_before_reset", int64_t{c.linear_before_reset}}});
  for (const om::TensorId id : outputs) builder.Output(id);
  return builder.graph();
}

void ExpectNear(const std::vector<float>& got, int64_t at, const Doubles& want, const char* what) {
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[static_cast<size_t>(at) + i]), want[i], 2e-5) << what << " " << i;
}

void CheckCase(const Case& c) {
  const Data data(c);
  const auto results = program::EvaluateGraph(MakeGraph(c, data), {om::ToBytes(data.x)});
  ASSERT_TRUE(results.ok()) << results.status().message();
  const auto all = om::FromBytes<float>((*results)[0]), last = om::FromBytes<float>((*results)[1]);
  const int64_t d = c.Directions();
  for (int64_t direction = 0; direction < d; ++direction) {
    const bool reverse = direction == 1 || std::string(c.direction) == "reverse";
    for (int64_t n = 0; n < c.rows; ++n) {
      Row row(c, data, direction, n);
      for (int64_t i = 0; i < c.steps; ++i) {
        const int64_t t = reverse ? c.steps - 1 - i : i;
        row.Step(t);
        ExpectNear(all, ((t * d + direction) * c.rows + n) * c.hidden, row.h, "step");
      }
      ExpectNear(last, (direction * c.rows + n) * c.hidden, row.h, "last state");
      if (c.IsLstm())
        ExpectNear(om::FromBytes<float>((*results)[2]), (direction * c.rows + n) * c.hidden, row.cell, "last cell");
    }
  }
}

TEST(RecurrentTest, LstmsAreTheFormula) {
  CheckCase({});
  CheckCase({.direction = "reverse", .bias = false, .initial = false});
  CheckCase({.rows = 1, .direction = "bidirectional", .peepholes = true});
  CheckCase({.hidden = 64, .peepholes = true, .clip = 0.3f});
  CheckCase({.steps = 1, .rows = 1, .in = 1, .hidden = 1});
  CheckCase({.steps = 2, .rows = 60, .in = 33, .hidden = 80});
}

TEST(RecurrentTest, GrusAreTheFormula) {
  CheckCase({.op = "GRU"});
  CheckCase({.op = "GRU", .linear_before_reset = true});
  CheckCase(
      {.op = "GRU", .rows = 1, .hidden = 40, .direction = "bidirectional", .linear_before_reset = true, .clip = 0.5f});
  CheckCase({.op = "GRU", .direction = "reverse", .bias = false, .initial = false});
}

TEST(RecurrentTest, PlainRecurrencesAreTheFormula) {
  CheckCase({.op = "RNN"});
  CheckCase({.op = "RNN", .hidden = 33, .direction = "bidirectional", .clip = 0.25f});
}

// What a damaged file may say.
TEST(RecurrentTest, RefusesWhatDoesNotGoTogether) {
  const Case c;
  const Data data(c);
  const om::Graph good = MakeGraph(c, data);
  EXPECT_TRUE(CheckNode(good, good.nodes[0]).ok());
  for (const char* name : {"activations", "alphas", "betas"}) {
    om::Graph graph = good;
    graph.nodes[0].attributes.erase(name);
    EXPECT_FALSE(CheckNode(graph, graph.nodes[0]).ok()) << name;
  }
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"direction", "sideways"}, {"activations", "Sigmoid,Tanh"}, {"activations", "Sigmoid,Tanh,Magic"}}) {
    om::Graph graph = good;
    graph.nodes[0].attributes[name] = value;
    EXPECT_FALSE(CheckNode(graph, graph.nodes[0]).ok()) << value;
  }
  for (size_t i = 0; i < good.tensors.size(); ++i) {
    om::Graph graph = good;
    graph.tensors[i].dims[0] += 1;
    graph.tensors[i].constant = nullptr;
    EXPECT_FALSE(CheckNode(graph, graph.nodes[0]).ok()) << i;
  }
}

// A plan of a damaged file, whose constants and buffers are not those that the kernel asked for.
TEST(RecurrentTest, RefusesPackedWeightsAndScratchOfAnotherSize) {
  for (const char* op : {"LSTM", "GRU"}) {
    const Case c{.op = op, .direction = "bidirectional"};
    const Data data(c);
    const om::Graph graph = MakeGraph(c, data);
    const auto problem = MakeProblem(graph, graph.nodes[0], RunningIsa());
    ASSERT_TRUE(problem.ok());
    const Kernel* kernel = FindKernel(op);
    const auto choice = kernel->Choose(*problem);
    ASSERT_TRUE(choice.ok());
    const size_t w = choice->packed[1]->size(), r = choice->packed[2]->size(), scratch = choice->scratch_bytes;
    const auto is_prepared = [&](size_t w_bytes, size_t r_bytes, size_t scratch_bytes) {
      Problem packed = *problem;
      packed.inputs[1].constant = std::span(*choice->packed[1]).first(w_bytes);
      packed.inputs[2].constant = std::span(*choice->packed[2]).first(r_bytes);
      packed.scratch_bytes = scratch_bytes;
      return kernel->Prepare(packed).ok();
    };
    EXPECT_TRUE(is_prepared(w, r, scratch));
    EXPECT_FALSE(is_prepared(w - sizeof(float), r, scratch));
    EXPECT_FALSE(is_prepared(w, r - sizeof(float), scratch));
    EXPECT_FALSE(is_prepared(w, r, scratch - 1));
  }
}

}  // namespace
}  // namespace npustream::kernels
