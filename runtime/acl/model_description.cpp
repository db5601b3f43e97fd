#include <algorithm>
#include <cstring>
#include <memory>

#include <acl/acl_mdl.h>

#include "runtime/acl/error.h"
#include "runtime/acl/handle_table.h"
#include "runtime/acl/model.h"

namespace npustream::acl {
namespace {

constexpr int64_t kGearBytes = 8;

// What the network itself sees of an input with AIPP: the picture after cropping and padding, in three channels (one
// for grey).
om::Dims NetworkDims(const om::AippConfig& aipp, int64_t batch) {
  int64_t width = aipp.crop ? aipp.crop_size_w : aipp.src_image_size_w;
  int64_t height = aipp.crop ? aipp.crop_size_h : aipp.src_image_size_h;
  if (aipp.padding) {
    width += aipp.left_padding_size + aipp.right_padding_size;
    height += aipp.top_padding_size + aipp.bottom_padding_size;
  }
  return {batch, height, width, aipp.input_format == "YUV400_U8" ? 1 : 3};
}

PortDescription Describe(const om::PortInfo& port, size_t bytes) {
  return {port.name, static_cast<aclDataType>(port.type), static_cast<aclFormat>(port.format), port.dims, port.dims,
          bytes};
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
  FillDims(port->name, port->*which, -1, dims);
  return ACL_SUCCESS;
}

}  // namespace

void FillDims(const std::string& name, const om::Dims& dims, int64_t batch, aclmdlIODims* filled) {
  *filled = {};
  name.copy(filled->name, sizeof filled->name - 1);
  filled->dimCount = std::min<size_t>(dims.size(), ACL_MAX_DIM_CNT);
  std::copy_n(dims.begin(), filled->dimCount, filled->dims);
  if (filled->dimCount > 0 && filled->dims[0] < 0) filled->dims[0] = batch;
}

ModelDescription DescribeModel(const om::OmInfo& info, const program::Program& program) {
  ModelDescription model;
  model.gears = program.gears();
  model.dynamic_batch = info.dynamic_batch;
  model.aipp = info.aipp;
  const int64_t largest = model.gears.back();
  for (size_t index = 0; index < info.inputs.size(); ++index) {
    PortDescription port = Describe(info.inputs[index], program.InputBytes(index, largest));
    if (const om::AippConfig* aipp = model.StaticAipp(index)) {
      const int64_t batch = info.dynamic_batch || port.dims.empty() ? -1 : port.dims[0];
      port.dims = NetworkDims(*aipp, batch);
      port.picture_dims = om::AippInputDims(*aipp, batch);
      port.format = ACL_FORMAT_NHWC;
      port.type = ACL_UINT8;
    }
    model.inputs.push_back(std::move(port));
  }
  for (size_t index = 0; index < info.outputs.size(); ++index) {
    model.outputs.push_back(Describe(info.outputs[index], program.OutputBytes(index, largest)));
  }
  if (info.dynamic_batch) {
    model.inputs.push_back({ACL_DYNAMIC_TENSOR_NAME, ACL_INT64, ACL_FORMAT_ND, {1}, {1}, kGearBytes});
  }
  return model;
}

}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face

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
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dims was given");
  std::shared_ptr<const ModelDescription> model;
  const PortDescription* port = FindPort(modelDesc, Side::kOutput, index, &model);
  if (port == nullptr) return ACL_ERROR_INVALID_PARAM;
  FillDims(port->name, port->dims, model->gears.back(), dims);
  return ACL_SUCCESS;
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dims was given");
  std::shared_ptr<const ModelDescription> model;
  const PortDescription* port = FindPort(modelDesc, Side::kOutput, index, &model);
  if (port == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto object = Descriptions().Find(modelDesc);
  const auto loaded = object == nullptr ? nullptr : object->loaded.lock();
  FillDims(port->name, port->dims, loaded == nullptr ? model->gears.back() : loaded->current_gear(), dims);
  return ACL_SUCCESS;
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  if (batch == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the gears was given");
  const auto model = Content(modelDesc);
  if (model == nullptr) return ACL_ERROR_INVALID_PARAM;
  *batch = {};
  if (!model->dynamic_batch) return ACL_SUCCESS;
  batch->batchCount = std::min<size_t>(model->gears.size(), ACL_MAX_BATCH_NUM);
  std::copy_n(model->gears.begin(), batch->batchCount, batch->batch);
  return ACL_SUCCESS;
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t, aclmdlHW* hw) {
  if (hw == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the image sizes was given");
  if (Content(modelDesc) == nullptr) return ACL_ERROR_INVALID_PARAM;
  *hw = {};
  return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t, size_t* gearCount) {
  if (gearCount == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the count was given");
  if (Content(modelDesc) == nullptr) return ACL_ERROR_INVALID_PARAM;
  *gearCount = 0;
  return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t, aclmdlIODims* dims, size_t) {
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dims was given");
  if (Content(modelDesc) == nullptr) return ACL_ERROR_INVALID_PARAM;
  return Fail(ACL_ERROR_MODEL_NOT_DYNAMIC, "the model was compiled without --dynamic_dims");
}
