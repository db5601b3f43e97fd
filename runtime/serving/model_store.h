#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/serving/atc_compiler.h"
#include "runtime/serving/model_description.h"

namespace npustream::serving {

// What somebody asks for with `--model`, `model=` or `models:`.
struct ModelRequest {
  std::string model;                  // a description file, its name, an OM, or an ONNX file
  std::string decoder;                // decoder type, for an OM or ONNX without a description
  std::filesystem::path labels_file;  // one label a line, likewise; may be empty
  PictureFormat picture_format = PictureFormat::kNv12;
  std::vector<int> gears{1, 2, 4, 8};  // batch sizes to compile for; an ONNX with a fixed batch > 1 keeps that
  std::string precision = "fp32";      // what atc computes in: fp32, fp16 or bf16
  std::string soc_version;             // as atc takes it ("Ascend310P3"); empty: the chip that is there
  // Told what takes time, such as "compiling x (first use)"; may be empty. Called on the resolving thread.
  std::function<void(const std::string&)> notify;
};

struct ResolvedModel {
  ModelDescription description;  // `file` is where the model file was found
  std::filesystem::path om;      // ready to be loaded
};

// The description of what is asked for, without reading or compiling the model itself; `file` is where the model file
// was found. kNotFound or kInvalidArgument when the request names a model, description, decoder or label file that is
// not there or not valid.
Result<ModelDescription> DescribeModel(const ModelRequest& request);

// What atc is to be told so that it compiles a described ONNX file as ResolveModel has it compiled; the files that atc reads
// for it go into `scratch`, an existing folder. Who does more than that (quantises, for example) starts from here.
Result<CompileJob> DescribeCompilation(const ModelRequest& request, const ModelDescription& description,
                                       const std::filesystem::path& scratch, const std::filesystem::path& om);

// Finds the model and, when it is an ONNX file, has atc compile it with static AIPP for the picture format. The OM is
// kept in a cache by content and options ($NPUSTREAM_CACHE, else $XDG_CACHE_HOME/npustream, else ~/.cache/npustream);
// two processes may resolve the same model at once. Names are looked for along NPUSTREAM_MODEL_PATH and then in the
// project's own configs/models (model_folders.h). A file that does not have its description's sha256 is refused. Blocks
// while compiling; any thread.
Result<ResolvedModel> ResolveModel(const ModelRequest& request);

}  // namespace npustream::serving
