#include <algorithm>
#include <cstring>
#include <memory>

#include <acl/acl_mdl.h>

#include "runtime/acl/error.h"
#include "runtime/acl/handle_table.h"
#include "runtime/acl/model.h"

namespace npustream::acl {
namespace {

PortDescription Describe(const om::PortInfo& port, om::Dims dims) {
  return {port.name, static_cast<aclDataType>(port.type), static_cast<aclFormat>(port.format), dims, dims, 0};
}

// The input that a gear is chosen by: a number for everything that is open, though one of each suffices where all
// inputs have it.
PortDescription DescribeChoice(const om::OmInfo& info) {
  int64_t numbers = 0;
  for (size_t index = 0; index < info.inputs.size(); ++index) {
    const om::Dims dims = info.InputDims(index);
    numbers += std::count(dims.begin(), dims.end(), -1);
  }
  if (info.dynamic != om::Dynamic::kDims) numbers = static_cast<int64_t>(info.gears.front().values.size());
  const om::Dims dims = {numbers};
  return {ACL_DYNAMIC_TENSOR_NAME, ACL_INT64, ACL_FORMAT_ND, dims, dims, static_cast<size_t>(numbers) * sizeof(int64_t)};
}

// A description in the hands of the program's user.
struct DescriptionObject {
  std::shared_ptr<const ModelDescription> model;  // null until aclmdlGetDesc
  std::weak_ptr<const LoadedModel> loaded;        // to see the current gear
};

HandleTable<DescriptionObject>& Descriptions() {
  static auto* table = new HandleTable<DescriptionObject>(HandleKind::kModelDescription);  // NOLINT: used until the end
  return *table;
}

enum class Side { kInput, kOutput };

// The content of a description, or null after the failure was remembered.
std::shared_ptr<const ModelDescription> Content(const aclmdlDesc* handle) {
  const auto object = Descriptions().Find(handle);
  if (object == nullptr) {
    Fail(ACL_ERROR_INVALID_PARAM, "{} is not a model description, or was destroyed", static_cast<const void*>(handle));
    return nullptr;
  }
  if (object->model == nullptr)
    Fail(ACL_ERROR_INVALID_PARAM, "the model description is empty; call aclmdlGetDesc first");
  return object->model;
}

const std::vector<PortDescription>& Ports(const ModelDescription& model, Side side) {
  return side == Side::kInput ? model.inputs : model.outputs;
}

// One input or output, kept alive by `model`; null after the failure was remembered.
const PortDescription* FindPort(const aclmdlDesc* handle, Side side, size_t index,
                                std::shared_ptr<const ModelDescription>* model) {
  *model = Content(handle);
  if (*model == nullptr) return nullptr;
  const auto& ports = Ports(**model, side);
  if (index < ports.size()) return &ports[index];
  Fail(ACL_ERROR_INVALID_PARAM, "{} {} of a model with {} was asked for", side == Side::kInput ? "input" : "output",
       index, ports.size());
  return nullptr;
}

// A property of a port, or `otherwise`.
template <typename T>
T Read(const aclmdlDesc* handle, Side side, size_t index, T otherwise, T PortDescription::*property) {
  std::shared_ptr<const ModelDescription> model;
  const PortDescription* port = FindPort(handle, side, index, &model);
  return port == nullptr ? otherwise : port->*property;
}

const char* Name(const aclmdlDesc* handle, Side side, size_t index) {
  std::shared_ptr<const ModelDescription> model;
  const PortDescription* port = FindPort(handle, side, index, &model);
  return port == nullptr ? "" : port->name.c_str();  // the description's user keeps it alive
}

aclError IndexByName(const aclmdlDesc* handle, Side side, const char* name, size_t* index) {
  if (name == nullptr || index == nullptr)
    return Fail(ACL_ERROR_INVALID_PARAM, "a name and a place for the index are needed");
  const auto model = Content(handle);
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto& ports = Ports(*model, side);
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const auto& port) { return port.name == name; });
  if (found == ports.end()) {
    return Fail(ACL_ERROR_INVALID_PARAM, "the model has no {} named \"{}\"", side == Side::kInput ? "input" : "output",
                name);
  }
  *index = static_cast<size_t>(found - ports.begin());
  return ACL_SUCCESS;
}

aclError InputDims(const aclmdlDesc* handle, size_t index, om::Dims PortDescription::*which, aclmdlIODims* dims) {
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dims was given");
  std::shared_ptr<const ModelDescription> model;
  const PortDescription* port = FindPort(handle, Side::kInput, index, &model);
  if (port == nullptr) return ACL_ERROR_INVALID_PARAM;
  FillDims(port->name, port->*which, dims);
  return ACL_SUCCESS;
}

// The shape of an output in the gear that is set, or in the largest.
aclError OutputDims(const aclmdlDesc* handle, size_t index, bool current, aclmdlIODims* dims) {
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dims was given");
  std::shared_ptr<const ModelDescription> model;
  const PortDescription* port = FindPort(handle, Side::kOutput, index, &model);
  if (port == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto object = Descriptions().Find(handle);
  const auto loaded = object == nullptr || !current ? nullptr : object->loaded.lock();
  const size_t gear = loaded == nullptr ? model->largest_gear : loaded->current_gear();
  FillDims(port->name, model->info.gears[gear].outputs[index], dims);
  return ACL_SUCCESS;
}

}  // namespace

void FillDims(const std::string& name, const om::Dims& dims, aclmdlIODims* filled) {
  *filled = {};
  name.copy(filled->name, sizeof filled->name - 1);
  filled->dimCount = std::min<size_t>(dims.size(), ACL_MAX_DIM_CNT);
  std::copy_n(dims.begin(), filled->dimCount, filled->dims);
}

om::Dims ModelDescription::NetworkDims(size_t input, const om::Dims& picture) const {
  const om::AippConfig* aipp = StaticAipp(input);
  if (aipp == nullptr) return picture;
  int64_t height = picture[1], width = picture[2];
  if (aipp->input_format == "YUV420SP_U8" && height > 0) height = height * 2 / 3;
  if (aipp->crop) height = aipp->crop_size_h, width = aipp->crop_size_w;
  if (aipp->padding) {
    width += aipp->left_padding_size + aipp->right_padding_size;
    height += aipp->top_padding_size + aipp->bottom_padding_size;
  }
  return {picture[0], height, width, aipp->input_format == "YUV400_U8" ? 1 : 3};
}

ModelDescription DescribeModel(const program::Program& program) {
  ModelDescription model;
  model.info = program.info();
  model.largest_gear = model.info.LargestGear();
  for (size_t index = 0; index < model.info.inputs.size(); ++index) {
    PortDescription port = Describe(model.info.inputs[index], model.info.InputDims(index));
    port.dims = model.NetworkDims(index, port.picture_dims);
    model.inputs.push_back(std::move(port));
  }
  for (size_t index = 0; index < model.info.outputs.size(); ++index)
    model.outputs.push_back(Describe(model.info.outputs[index], model.info.OutputDims(index)));
  for (size_t gear = 0; gear < model.info.gears.size(); ++gear) {
    for (size_t index = 0; index < model.inputs.size(); ++index)
      model.inputs[index].bytes = std::max(model.inputs[index].bytes, program.InputBytes(index, gear));
    for (size_t index = 0; index < model.outputs.size(); ++index)
      model.outputs[index].bytes = std::max(model.outputs[index].bytes, program.OutputBytes(index, gear));
  }
  if (model.info.dynamic != om::Dynamic::kNothing) model.inputs.push_back(DescribeChoice(model.info));
  return model;
}

}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::om::Dynamic;

aclmdlDesc* aclmdlCreateDesc() {
  return static_cast<aclmdlDesc*>(Descriptions().Add(std::make_shared<DescriptionObject>()));
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  if (Descriptions().Remove(modelDesc) != nullptr) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_PARAM, "{} is not a model description, or was destroyed",
              static_cast<void*>(modelDesc));
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  const auto object = Descriptions().Find(modelDesc);
  if (object == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{} is not a model description, or was destroyed",
                static_cast<void*>(modelDesc));
  }
  const auto loaded = FindModel(modelId);
  if (loaded == nullptr) return NoModel(modelId);
  object->model = loaded->description();
  object->loaded = loaded;
  return ACL_SUCCESS;
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) {
  const auto model = Content(modelDesc);
  return model == nullptr ? 0 : model->inputs.size();
}

size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) {
  const auto model = Content(modelDesc);
  return model == nullptr ? 0 : model->outputs.size();
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return Read<size_t>(modelDesc, Side::kInput, index, 0, &PortDescription::bytes);
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return Read<size_t>(modelDesc, Side::kOutput, index, 0, &PortDescription::bytes);
}

const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return Name(modelDesc, Side::kInput, index);
}

const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return Name(modelDesc, Side::kOutput, index);
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return Read(modelDesc, Side::kInput, index, ACL_FORMAT_UNDEFINED, &PortDescription::format);
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return Read(modelDesc, Side::kOutput, index, ACL_FORMAT_UNDEFINED, &PortDescription::format);
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return Read(modelDesc, Side::kInput, index, ACL_DT_UNDEFINED, &PortDescription::type);
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return Read(modelDesc, Side::kOutput, index, ACL_DT_UNDEFINED, &PortDescription::type);
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return IndexByName(modelDesc, Side::kInput, name, index);
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return IndexByName(modelDesc, Side::kOutput, name, index);
}

aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return InputDims(modelDesc, index, &PortDescription::dims, dims);
}

aclError aclmdlGetInputDimsV2(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return InputDims(modelDesc, index, &PortDescription::picture_dims, dims);
}

aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return OutputDims(modelDesc, index, false, dims);
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return OutputDims(modelDesc, index, true, dims);
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  if (batch == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the gears was given");
  const auto model = Content(modelDesc);
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  *batch = {};
  if (model->info.dynamic != Dynamic::kBatch) return ACL_SUCCESS;
  batch->batchCount = std::min<size_t>(model->info.gears.size(), ACL_MAX_BATCH_NUM);
  for (size_t gear = 0; gear < batch->batchCount; ++gear)
    batch->batch[gear] = static_cast<uint64_t>(model->info.gears[gear].values[0]);
  return ACL_SUCCESS;
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t, aclmdlHW* hw) {
  if (hw == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the image sizes was given");
  const auto model = Content(modelDesc);
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  *hw = {};
  if (model->info.dynamic != Dynamic::kImageSize) return ACL_SUCCESS;
  hw->hwCount = std::min<size_t>(model->info.gears.size(), ACL_MAX_HW_NUM);
  for (size_t gear = 0; gear < hw->hwCount; ++gear) std::copy_n(model->info.gears[gear].values.begin(), 2, hw->hw[gear]);
  return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t, size_t* gearCount) {
  if (gearCount == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the count was given");
  const auto model = Content(modelDesc);
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  *gearCount = model->info.dynamic == Dynamic::kDims ? model->info.gears.size() : 0;
  return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t, aclmdlIODims* dims, size_t gearCount) {
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dims was given");
  const auto model = Content(modelDesc);
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto& gears = model->info.gears;
  if (model->info.dynamic != Dynamic::kDims)
    return Fail(ACL_ERROR_MODEL_NOT_DYNAMIC, "the model was compiled without --dynamic_dims");
  if (gearCount < gears.size()) {
    return Fail(ACL_ERROR_INVALID_PARAM, "there is place for {} gears, the model has {}", gearCount, gears.size());
  }
  for (size_t gear = 0; gear < gears.size(); ++gear) FillDims("", gears[gear].values, &dims[gear]);
  return ACL_SUCCESS;
}
