// Einsum: diagonals, sums, then products of two operands at a time as a MatMul or a Mul.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

// An operand with one label per axis. Letters are the equation's; the axes of an ellipsis are digits, counted from the
// last one.
struct Term {
  om::TensorId id;
  std::string labels;
};

struct Equation {
  std::vector<Term> terms;
  std::string result;
  std::map<char, int64_t> sizes;
};

bool Holds(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// "...ij" with an ellipsis of `axes` axes.
Result<std::string> ReadLabels(const ImportContext& context, std::string_view text, size_t axes) {
  constexpr std::string_view kEllipsis = "...";
  std::string labels;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 3) == kEllipsis) {
      for (size_t axis = axes; axis-- > 0;) labels += static_cast<char>('0' + axis);
      i += 3;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      labels += text[i++];
    } else {
      return context.Error(fmt::format("the equation's part '{}' is not understood", text));
    }
  }
  return labels;
}

Result<Term> ReadTerm(const ImportContext& context, size_t input, const std::string& text) {
  const auto rank = static_cast<size_t>(context.Rank(input));
  const bool has_ellipsis = text.find("...") != std::string::npos;
  const size_t letters = text.size() - (has_ellipsis ? 3 : 0);
  if (has_ellipsis ? letters > rank : letters != rank)
    return context.Error(fmt::format("'{}' does not label the {} axes of input {}", text, rank, input));
  NPUSTREAM_ASSIGN_OR_RETURN(std::string labels, ReadLabels(context, text, rank - letters));
  return Term{context.InputId(input), std::move(labels)};
}

// Sizes of all labels; axes of size 1 repeat.
Status ReadSizes(const ImportContext& context, Equation& equation) {
  for (const Term& term : equation.terms) {
    const om::Dims& dims = context.Tensor(term.id).dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t& size = equation.sizes.emplace(term.labels[i], dims[i]).first->second;
      if (size == 1) size = dims[i];
      if (size != dims[i] && dims[i] != 1)
        return context.Error(fmt::format("label '{}' stands for {} and for {}", term.labels[i], size, dims[i]));
    }
  }
  return {};
}

// Without an arrow: the ellipsis, then the letters that occur once, in the alphabet's order.
std::string ImplicitResult(const Equation& equation) {
  std::map<char, int> counts;
  for (const Term& term : equation.terms) {
    for (const char label : term.labels) ++counts[label];
  }
  std::string digits, letters;
  for (const auto& [label, count] : counts) {
    if (std::isdigit(static_cast<unsigned char>(label)) != 0)
      digits.insert(digits.begin(), label);
    else if (count == 1)
      letters += label;
  }
  return digits + letters;
}

Result<Equation> ReadEquation(const ImportContext& context) {
  std::string text = context.String("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation equation;
  size_t begin = 0;
  for (size_t i = 0; i < context.InputCount(); ++i) {
    if (begin > left.size() || !context.HasInput(i))
      return context.Error("the equation does not have one part per input");
    const size_t end = std::min(left.find(',', begin), left.size());
    NPUSTREAM_ASSIGN_OR_RETURN(equation.terms.emplace_back(), ReadTerm(context, i, left.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (begin <= left.size()) return context.Error("the equation does not have one part per input");
  NPUSTREAM_RETURN_IF_ERROR(ReadSizes(context, equation));
  size_t ellipsis = 0;
  while (equation.sizes.count(static_cast<char>('0' + ellipsis)) != 0) ++ellipsis;
  if (arrow == std::string::npos) {
    equation.result = ImplicitResult(equation);
  } else {
    NPUSTREAM_ASSIGN_OR_RETURN(equation.result, ReadLabels(context, text.substr(arrow + 2), ellipsis));
  }
  for (const char label : equation.result) {
    if (equation.sizes.count(label) == 0 || std::count(equation.result.begin(), equation.result.end(), label) > 1)
      return context.Error(fmt::format("the equation's result '{}' is not possible", equation.result));
  }
  return equation;
}

class Decomposition {
 public:
  Decomposition(ImportContext& context, Equation equation) : context_(context), e_(std::move(equation)) {}

  Status Run() {
    for (Term& term : e_.terms) NPUSTREAM_RETURN_IF_ERROR(Simplify(term));
    Term product = e_.terms[0];
    for (size_t i = 1; i < e_.terms.size(); ++i) {
      NPUSTREAM_ASSIGN_OR_RETURN(product, Multiply(product, e_.terms[i], NeededAfter(i)));
    }
    NPUSTREAM_RETURN_IF_ERROR(SumOver(product, Without(product.labels, e_.result)));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, Ordered(product, e_.result));
    return context_.Bind(0, result);
  }

 private:
  const om::Dims& DimsOf(om::TensorId id) const { return context_.Tensor(id).dims; }
  om::DataType Type() const { return context_.Input(0).type; }

  static std::string Without(const std::string& labels, const std::string& others) {
    std::string rest;
    for (const char label : labels) rest += Holds(others, label) ? "" : std::string(1, label);
    return rest;
  }
  static std::string Common(const std::string& labels, const std::string& others) {
    return Without(labels, Without(labels, others));
  }

  int64_t SizeOf(const std::string& labels) const {
    int64_t size = 1;
    for (const char label : labels) size *= e_.sizes.at(label);
    return size;
  }
  om::Dims DimsOfLabels(const std::string& labels) const {
    om::Dims dims;
    for (const char label : labels) dims.push_back(e_.sizes.at(label));
    return dims;
  }

  // Labels that the result or a term behind term `i` has.
  std::string NeededAfter(size_t i) const {
    std::string needed = e_.result;
    for (size_t k = i + 1; k < e_.terms.size(); ++k) needed += e_.terms[k].labels;
    return needed;
  }

  // Afterwards every label stands there once and every axis has its label's size.
  Status Simplify(Term& term) {
    for (size_t i = 0; i < term.labels.size();) {
      const size_t again = term.labels.find(term.labels[i], i + 1);
      if (again == std::string::npos) {
        ++i;
      } else {
        NPUSTREAM_RETURN_IF_ERROR(TakeDiagonal(term, i, again));
      }
    }
    std::string labels;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const bool repeats = DimsOf(term.id)[i] == 1 && e_.sizes.at(term.labels[i]) != 1;
      if (!repeats) labels += term.labels[i];
    }
    NPUSTREAM_ASSIGN_OR_RETURN(term.id, EmitReshape(context_, term.id, DimsOfLabels(labels)));
    term.labels = labels;
    return {};
  }

  // Axes `i` and `j` become one, at the end: every (n + 1)th of n · n elements.
  Status TakeDiagonal(Term& term, size_t i, size_t j) {
    const int64_t n = DimsOf(term.id)[i];
    if (DimsOf(term.id)[j] != n) return context_.Error(fmt::format("label '{}' has two sizes", term.labels[i]));
    std::vector<int64_t> perm;
    std::string labels;
    om::Dims dims;
    for (size_t axis = 0; axis < term.labels.size(); ++axis) {
      if (axis == i || axis == j) continue;
      perm.push_back(static_cast<int64_t>(axis));
      labels += term.labels[axis];
      dims.push_back(DimsOf(term.id)[axis]);
    }
    perm.insert(perm.end(), {static_cast<int64_t>(i), static_cast<int64_t>(j)});
    labels += term.labels[i];
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId moved, EmitTranspose(context_, term.id, perm));
    dims.push_back(n * n);
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId flat, EmitReshape(context_, moved, dims));
    const om::Attributes every = {{"starts", std::vector<int64_t>{0}},
                                  {"ends", std::vector<int64_t>{n * n}},
                                  {"axes", std::vector<int64_t>{static_cast<int64_t>(dims.size()) - 1}},
                                  {"steps", std::vector<int64_t>{n + 1}}};
    dims.back() = n;
    NPUSTREAM_ASSIGN_OR_RETURN(term.id, context_.Emit("Slice", {flat}, every, Type(), dims));
    term.labels = labels;
    return {};
  }

  Status SumOver(Term& term, const std::string& labels) {
    if (labels.empty()) return {};
    std::vector<int64_t> axes;
    for (size_t i = 0; i < term.labels.size(); ++i) {
      if (Holds(labels, term.labels[i])) axes.push_back(static_cast<int64_t>(i));
    }
    const std::string rest = Without(term.labels, labels);
    NPUSTREAM_ASSIGN_OR_RETURN(
        term.id,
        context_.Emit("ReduceSum", {term.id}, {{"axes", axes}, {"keepdims", int64_t{0}}}, Type(), DimsOfLabels(rest)));
    term.labels = rest;
    return {};
  }

  // A term's tensor with its axes in the order of `labels`.
  Result<om::TensorId> Ordered(const Term& term, const std::string& labels) {
    std::vector<int64_t> perm;
    for (const char label : labels) perm.push_back(static_cast<int64_t>(term.labels.find(label)));
    return EmitTranspose(context_, term.id, perm);
  }

  Result<Term> Multiply(Term a, Term b, const std::string& needed) {
    NPUSTREAM_RETURN_IF_ERROR(SumOver(a, Without(a.labels, b.labels + needed)));
    NPUSTREAM_RETURN_IF_ERROR(SumOver(b, Without(b.labels, a.labels + needed)));
    const std::string common = Common(a.labels, b.labels), sum = Without(common, needed);
    const std::string batch = Common(common, needed), rows = Without(a.labels, common),
                      columns = Without(b.labels, common);
    if (context_.Tensor(a.id).type != context_.Tensor(b.id).type)
      return context_.Error("its inputs have different types");
    return sum.empty() ? Outer(a, b, batch, rows, columns) : Product(a, b, batch, rows, sum, columns);
  }

  // Nothing is summed: element by element.
  Result<Term> Outer(const Term& a, const Term& b, const std::string& batch, const std::string& rows,
                     const std::string& columns) {
    NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId left, Ordered(a, batch + rows));
    NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId right, Ordered(b, batch + columns));
    om::Dims left_dims = DimsOfLabels(batch + rows), right_dims = DimsOfLabels(batch + columns);
    left_dims.insert(left_dims.end(), columns.size(), 1);
    right_dims.insert(right_dims.begin() + static_cast<std::ptrdiff_t>(batch.size()), rows.size(), 1);
    NPUSTREAM_ASSIGN_OR_RETURN(left, EmitReshape(context_, left, left_dims));
    NPUSTREAM_ASSIGN_OR_RETURN(right, EmitReshape(context_, right, right_dims));
    const std::string labels = batch + rows + columns;
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId product,
                               context_.Emit("Mul", {left, right}, {}, Type(), DimsOfLabels(labels)));
    return Term{product, labels};
  }

  // [batch, rows, sum] times [batch, sum, columns].
  Result<Term> Product(const Term& a, const Term& b, const std::string& batch, const std::string& rows,
                       const std::string& sum, const std::string& columns) {
    NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId left, Ordered(a, batch + rows + sum));
    NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId right, Ordered(b, batch + sum + columns));
    // Few axes of the batch stay as they are, so that what is made of a product of heads is still seen.
    const om::Dims stack = batch.size() <= 2 ? DimsOfLabels(batch) : om::Dims{SizeOf(batch)};
    const auto matrices = [&](int64_t height, int64_t width) {
      om::Dims dims = stack;
      dims.insert(dims.end(), {height, width});
      return dims;
    };
    NPUSTREAM_ASSIGN_OR_RETURN(left, EmitReshape(context_, left, matrices(SizeOf(rows), SizeOf(sum))));
    NPUSTREAM_ASSIGN_OR_RETURN(right, EmitReshape(context_, right, matrices(SizeOf(sum), SizeOf(columns))));
    NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId product, context_.Emit("MatMul", {left, right}, {}, Type(),
                                                                   matrices(SizeOf(rows), SizeOf(columns))));
    const std::string labels = batch + rows + columns;
    NPUSTREAM_ASSIGN_OR_RETURN(product, EmitReshape(context_, product, DimsOfLabels(labels)));
    return Term{product, labels};
  }

  ImportContext& context_;
  Equation e_;
};

}  // namespace

Status ImportEinsum(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(Equation equation, ReadEquation(context));
  return Decomposition(context, std::move(equation)).Run();
}

}  // namespace npustream::compiler
