#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/npustream/bench_model.h"
#include "apps/npustream/commands.h"
#include "apps/npustream/console.h"
#include "base/standard_streams.h"

namespace npustream::apps {
namespace {

int Bench(const ModelBenchOptions& options, bool json) {
  const auto result = BenchModel(options);
  if (!result.ok()) {
    PrintMessage(result.status().message());
    return kExitFailed;
  }
  if (json) {
    Print(stdout, "{}\n", ToJson(options, *result));
  } else {
    Print(stdout, "{}: batch of {} on {} thread{}: median {:.2f} ms, {:.2f} ms of CPU; first run {:.2f} ms\n",
          options.model.string(), result->batch, options.threads, options.threads == 1 ? "" : "s",
          result->median_ms, result->cpu_ms, result->first_ms);
  }
  return kExitDone;
}

}  // namespace

void AddBenchCommand(CLI::App& app, int& exit_code) {
  struct Flags {
    ModelBenchOptions options;
    std::string model;
    bool json = false;
  };
  CLI::App* command = app.add_subcommand("bench", "Measure parts of the system");
  command->require_subcommand(1);
  CLI::App* model = command->add_subcommand("model", "Time a model's runs without anything around it");
  auto flags = std::make_shared<Flags>();  // shared with the callback, which outlives this function
  model->add_option("model", flags->model, "ONNX file or OM")->required();
  model
      ->add_option("--precision", flags->options.precision, "Arithmetic of an ONNX model; bf16 where the CPU has AMX")
      ->check(CLI::IsMember({"fp32", "fp16", "bf16", "int8"}));
  model->add_option("--calibration", flags->options.calibration,
                    "Pictures or video that int8 is calibrated with; without it, the input that runs are timed with");
  CLI::Option* batch = model->add_option("--batch", flags->options.batch, "Images in a run")->check(CLI::Range(1, 1024));
  model->add_option("--gear", flags->options.gear, "The gear of an OM, as `models info` names it: 416,416")
      ->excludes(batch);
  model->add_option("--threads", flags->options.threads, "AI cores")->check(CLI::Range(1, 256));
  model->add_option("--seconds", flags->options.seconds, "How long to repeat runs")->check(CLI::Range(0.0, 3600.0));
  model->add_flag("--json", flags->json, "Print one line of JSON (docs/bench.md)");
  model->callback([flags, &exit_code] {
    flags->options.model = flags->model;
    exit_code = Bench(flags->options, flags->json);
  });
}

}  // namespace npustream::apps
