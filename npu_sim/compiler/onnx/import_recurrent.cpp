// LSTM, GRU and RNN.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

// A function with the parameters that it has when none are given; absent ones are not taken from the lists.
struct Function {
  bool has_alpha = false, has_beta = false;
  float alpha = 0, beta = 0;
};

const std::map<std::string, Function>& Functions() {
  static const std::map<std::string, Function> functions = {
      {"Elu", {true, false, 1.0f, 0}},
      {"HardSigmoid", {true, true, 0.2f, 0.5f}},
      {"LeakyRelu", {true, false, 0.01f, 0}},
      {"Relu", {}},
      {"Sigmoid", {}},
      {"Softplus", {}},
      {"Tanh", {}},
  };
  return functions;
}

std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= list.size() && !list.empty();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Names and parameters of all functions, those of the second direction after those of the first.
Result<om::Attributes> ReadFunctions(const ImportContext& context, size_t directions) {
  const std::string& op = context.node().op;
  const std::string defaults = op == "LSTM" ? "Sigmoid,Tanh,Tanh" : op == "GRU" ? "Sigmoid,Tanh" : "Tanh";
  std::string list = context.String("activations", "");
  if (list.empty()) list = directions == 2 ? defaults + "," + defaults : defaults;
  const std::vector<std::string> names = SplitNames(list);
  if (names.size() != directions * SplitNames(defaults).size())
    return context.Error(fmt::format("{} activations do not suit {} directions", names.size(), directions));
  std::vector<float> alphas = context.Floats("activation_alpha"), betas = context.Floats("activation_beta");
  std::vector<float> alpha, beta;
  size_t next_alpha = 0, next_beta = 0;
  for (const std::string& name : names) {
    const auto found = Functions().find(name);
    if (found == Functions().end()) return context.Unsupported(fmt::format("activation '{}' is not supported", name));
    const Function& f = found->second;
    alpha.push_back(f.has_alpha && next_alpha < alphas.size() ? alphas[next_alpha++] : f.alpha);
    beta.push_back(f.has_beta && next_beta < betas.size() ? betas[next_beta++] : f.beta);
  }
  return om::Attributes{{"activations", list}, {"alphas", alpha}, {"betas", beta}};
}

// Sequences all have the full length: shorter ones would need results of their own.
Status CheckLengths(const ImportContext& context, int64_t steps) {
  if (!context.HasInput(kLengths)) return {};
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, context.ConstantInts(kLengths, "sequence_lens"));
  if (std::all_of(lengths.begin(), lengths.end(), [steps](int64_t length) { return length == steps; })) return {};
  return context.Unsupported(fmt::format("sequence_lens [{}] are not all {}", fmt::join(lengths, ","), steps));
}

struct Sizes {
  int64_t steps, rows, hidden, directions;
};

Result<Sizes> ReadSizes(const ImportContext& context, bool batch_first) {
  const om::Dims &x = context.Dims(kX), &w = context.Dims(kW), &r = context.Dims(kR);
  const std::string direction = context.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return context.Error(fmt::format("direction '{}' does not exist", direction));
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const int64_t gates = context.node().op == "LSTM" ? 4 : context.node().op == "GRU" ? 3 : 1;
  const bool fits = x.size() == 3 && w.size() == 3 && r.size() == 3 && w[0] == directions && r[0] == directions &&
                    w[2] == x[2] && r[1] == gates * r[2] && w[1] == r[1];
  if (!fits) {
    return context.Error(fmt::format("input [{}] and weights [{}] and [{}] do not go together", fmt::join(x, ","),
                                     fmt::join(w, ","), fmt::join(r, ",")));
  }
  if (context.Int("hidden_size", r[2]) != r[2]) return context.Error("hidden_size differs from the weights' shape");
  return batch_first ? Sizes{x[1], x[0], r[2], directions} : Sizes{x[0], x[1], r[2], directions};
}

// An initial state as [direction, row, hidden].
Result<om::TensorId> EmitState(ImportContext& context, size_t input, const Sizes& s, bool batch_first) {
  if (!context.HasInput(input)) return om::kNoTensor;
  om::TensorId state = context.InputId(input);
  if (batch_first && context.Rank(input) == 3) {
    NPUSTREAM_ASSIGN_OR_RETURN(state, EmitTranspose(context, state, {1, 0, 2}));
  }
  if (context.Tensor(state).dims == om::Dims{s.directions, s.rows, s.hidden}) return state;
  return context.Error(fmt::format("the initial state [{}] does not fit {} rows of {}",
                                   fmt::join(context.Dims(input), ","), s.rows, s.hidden));
}

Result<std::vector<om::TensorId>> EmitInputs(ImportContext& context, const Sizes& s, bool batch_first) {
  om::TensorId x = context.InputId(kX);
  if (batch_first) {
    NPUSTREAM_ASSIGN_OR_RETURN(x, EmitTranspose(context, x, {1, 0, 2}));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId initial_h, EmitState(context, kInitialH, s, batch_first));
  std::vector<om::TensorId> inputs = {x, context.InputId(kW), context.InputId(kR), context.InputId(kB), initial_h};
  if (context.node().op != "LSTM") return inputs;
  NPUSTREAM_ASSIGN_OR_RETURN(inputs.emplace_back(), EmitState(context, kInitialC, s, batch_first));
  inputs.push_back(context.InputId(kP));
  return inputs;
}

}  // namespace

Status ImportRecurrent(ImportContext& context) {
  const bool batch_first = context.Int("layout", 0) != 0;
  NPUSTREAM_ASSIGN_OR_RETURN(const Sizes s, ReadSizes(context, batch_first));
  NPUSTREAM_RETURN_IF_ERROR(CheckLengths(context, s.steps));
  if (context.Int("input_forget", 0) != 0)
    return context.Unsupported("coupled input and forget gates are not supported");
  NPUSTREAM_ASSIGN_OR_RETURN(om::Attributes attributes, ReadFunctions(context, static_cast<size_t>(s.directions)));
  attributes["direction"] = context.String("direction", "forward");
  attributes["clip"] = context.Float("clip", 0);
  attributes["linear_before_reset"] = context.Int("linear_before_reset", 0);
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::TensorId> inputs, EmitInputs(context, s, batch_first));
  const om::DataType type = context.Input(kX).type;
  const om::Tensor state{"", type, {s.directions, s.rows, s.hidden}, nullptr};
  std::vector<om::Tensor> results = {{"", type, {s.steps, s.directions, s.rows, s.hidden}, nullptr}, state};
  if (context.node().op == "LSTM") results.push_back(state);
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::TensorId> ids,
                             context.EmitMany(context.node().op, std::move(inputs), std::move(attributes), results));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (batch_first && context.WantsOutput(i)) {
      NPUSTREAM_ASSIGN_OR_RETURN(
          ids[i],
          EmitTranspose(context, ids[i], i == 0 ? std::vector<int64_t>{2, 0, 1, 3} : std::vector<int64_t>{1, 0, 2}));
    }
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(i, ids[i]));
  }
  return {};
}

}  // namespace npustream::compiler
