#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/npustream/commands.h"
#include "apps/npustream/compare_models.h"
#include "apps/npustream/console.h"
#include "apps/npustream/npy_file.h"
#include "base/file.h"
#include "base/standard_streams.h"
#include "pipeline/calibration/model_pictures.h"

namespace npustream::apps {
namespace {

namespace fs = std::filesystem;

struct CompareFlags {
  std::string onnx, om;
  std::vector<std::string> inputs;
  std::string dump, decoder;
  double threshold = 0.01;
  unsigned seed = 1;
  bool json = false, all = false;
};

// Bytes of any value, real numbers in [−1, 1), other types zero: places and counts would be out of range.
om::Bytes RandomContent(const om::Tensor& input, std::mt19937& random) {
  om::Bytes bytes(input.ByteSize());
  if (input.type == om::DataType::kUInt8) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  } else if (input.type == om::DataType::kFloat32) {
    for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
      const float value = static_cast<float>(random() >> 8) * 0x1p-23f - 1;
      std::memcpy(&bytes[i], &value, sizeof(value));
    }
  }
  return bytes;
}

Result<om::Bytes> ReadInput(const CompareFlags& flags, const fs::path& path, const om::Tensor& input) {
  om::Bytes content;
  if (path.extension() == ".npy") {
    NPUSTREAM_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(path));
    if (array.type != input.type) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{}: holds {}, input '{}' is {}", path.string(),
                                                              om::ToString(array.type), input.name, om::ToString(input.type)));
    }
    content = std::move(array.content);
  } else if (path.extension() == ".bin") {
    NPUSTREAM_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
    content.assign(file.bytes().begin(), file.bytes().end());
  } else {
    serving::ModelRequest request;
    request.model = flags.om;
    request.decoder = flags.decoder.empty() ? "yolox" : flags.decoder;  // nothing is decoded
    NPUSTREAM_ASSIGN_OR_RETURN(pipeline::ModelPictures pictures, pipeline::ReadModelPictures(request, path.string(), 1, 1));
    content = std::move(pictures.pictures[0]);
  }
  if (content.size() == input.ByteSize()) return content;
  return Status(StatusCode::kInvalidArgument, fmt::format("{}: {} bytes for input '{}' [{}], which has {}", path.string(),
                                                          content.size(), input.name, fmt::join(input.dims, ","), input.ByteSize()));
}

// In the order of the inputs, or by name: "NAME=FILE". Inputs that are not given are random.
Result<std::vector<om::Bytes>> ReadInputs(const CompareFlags& flags, const std::vector<om::Tensor>& inputs) {
  std::mt19937 random(flags.seed);
  std::vector<om::Bytes> contents;
  for (const om::Tensor& input : inputs) contents.push_back(RandomContent(input, random));
  size_t next = 0;
  for (const std::string& given : flags.inputs) {
    size_t place = next;
    std::string file = given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!given.starts_with(inputs[i].name + "=")) continue;
      place = i;
      file = given.substr(inputs[i].name.size() + 1);
    }
    if (place >= inputs.size()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{}: the model has only {} inputs", given, inputs.size()));
    }
    NPUSTREAM_ASSIGN_OR_RETURN(contents[place], ReadInput(flags, file, inputs[place]));
    next = place + 1;
  }
  return contents;
}

std::string Table(const ModelComparison& comparison, const CompareFlags& flags) {
  std::string text = fmt::format("{:<36} {:<18} {:>9} {:>10} {:>10} {:>10}\n", "tensor", "operator", "cosine", "max error",
                                 "mean error", "relative");
  for (const TensorComparison& tensor : comparison.tensors) {
    text += fmt::format("{:<36} {:<18} {:>9.6f} {:>10.3g} {:>10.3g} {:>10.3g}{}\n", tensor.tensor, tensor.op, tensor.cosine,
                        tensor.max_error, tensor.mean_error, tensor.relative_error,
                        tensor.relative_error > flags.threshold ? "  !" : "");
  }
  text += fmt::format("{} tensors compared; {} of the ONNX model are not in the OM, whose operators are fused{}\n",
                      comparison.tensors.size(), comparison.gone.size(), flags.all ? ":" : " (--all names them)");
  for (size_t i = 0; flags.all && i < comparison.gone.size(); ++i) text += "  " + comparison.gone[i] + "\n";
  const TensorComparison* first = comparison.FirstOver(flags.threshold);
  if (first == nullptr) return text + fmt::format("no relative error is above {}\n", flags.threshold);
  return text + fmt::format("the first relative error above {} is that of {} (node {}, {})\n", flags.threshold, first->tensor,
                            first->node, first->op);
}

// docs/compare.md
std::string Json(const ModelComparison& comparison, const CompareFlags& flags) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const TensorComparison& tensor : comparison.tensors) {
    tensors.push_back({{"tensor", tensor.tensor}, {"node", tensor.node}, {"op", tensor.op}, {"dims", tensor.dims},
                       {"output", tensor.is_output}, {"cosine", tensor.cosine}, {"max_error", tensor.max_error},
                       {"mean_error", tensor.mean_error}, {"relative_error", tensor.relative_error}});
  }
  const TensorComparison* first = comparison.FirstOver(flags.threshold);
  const nlohmann::ordered_json json = {{"onnx", flags.onnx},
                                       {"om", flags.om},
                                       {"threshold", flags.threshold},
                                       {"first_over", first == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(first->tensor)},
                                       {"outputs_within", comparison.OutputsWithin(flags.threshold)},
                                       {"tensors", std::move(tensors)},
                                       {"not_compared", comparison.gone}};
  return json.dump() + "\n";
}

Result<ModelComparison> CompareModels(const CompareFlags& flags) {
  NPUSTREAM_ASSIGN_OR_RETURN(const ModelPair pair, ModelPair::Load(flags.onnx, flags.om));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> inputs, ReadInputs(flags, pair.Inputs()));
  if (!flags.dump.empty()) {
    std::error_code error;
    fs::create_directories(flags.dump, error);
    if (error) return Status(StatusCode::kIoError, fmt::format("{}: cannot be made: {}", flags.dump, error.message()));
  }
  return pair.Compare(inputs, flags.dump);
}

int Compare(const CompareFlags& flags) {
  const auto comparison = CompareModels(flags);
  if (!comparison.ok()) return Fail(comparison.status());
  Print(stdout, "{}", flags.json ? Json(*comparison, flags) : Table(*comparison, flags));
  return comparison->OutputsWithin(flags.threshold) ? kExitDone : kExitFailed;
}

}  // namespace

void AddCompareCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("compare", "Find where an offline model differs from the ONNX model that it is made from");
  auto flags = std::make_shared<CompareFlags>();  // shared with the callback, which outlives this function
  command->add_option("onnx", flags->onnx, "ONNX model: the reference, computed in float32 as it stands")->required();
  command->add_option("om", flags->om, "Offline model that was compiled from it")->required();
  command->add_option("--input", flags->inputs,
                      "What both are given, in the order of the inputs or as NAME=FILE: .npy, .bin, or for a model with "
                      "AIPP a picture or video; without it random numbers");
  command->add_option("--seed", flags->seed, "Of the random numbers")->capture_default_str();
  command->add_option("--threshold", flags->threshold, "Relative error (norm of the difference over the norm) that is accepted")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--dump", flags->dump, "Folder for the tensors of both as .npy");
  command->add_option("--decoder", flags->decoder, "Box decoder of the OM, where a picture is given");
  command->add_flag("--all", flags->all, "Name the tensors that cannot be compared");
  command->add_flag("--json", flags->json, "Print one line of JSON (docs/compare.md)");
  command->callback([flags, &exit_code] { exit_code = Compare(*flags); });
}

}  // namespace npustream::apps
