#include "runtime/serving/loaded_model.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "base/unique_handle.h"
#include "runtime/serving/acl_status.h"

namespace npustream::serving {
namespace {

using DescHandle = UniqueHandle<aclmdlDesc, aclmdlDestroyDesc>;

std::vector<int64_t> DimsOfOneImage(const aclmdlIODims& dims) {
  std::vector<int64_t> result(dims.dims, dims.dims + std::min<size_t>(dims.dimCount, ACL_MAX_DIM_CNT));
  if (!result.empty()) result[0] = 1;
  return result;
}

// The batch sizes of the model: its gears, or the one that axis 0 of its input says.
Result<std::vector<int64_t>> Gears(const aclmdlDesc* desc) {
  aclmdlBatch batch{};
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetDynamicBatch(desc, &batch), "asking for batch sizes");
  std::vector<int64_t> gears(batch.batch, batch.batch + std::min<size_t>(batch.batchCount, ACL_MAX_BATCH_NUM));
  std::sort(gears.begin(), gears.end());
  if (!gears.empty()) return gears;
  aclmdlIODims dims{};
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetInputDimsV2(desc, 0, &dims), "asking for the input's shape");
  return std::vector<int64_t>{dims.dimCount > 0 ? std::max<int64_t>(1, dims.dims[0]) : 1};
}

// Pictures are made for one size.
Status RefuseOtherGears(const aclmdlDesc* desc) {
  const auto sizes = std::make_unique<aclmdlHW>();
  size_t shapes = 0;
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetDynamicHW(desc, -1, sizes.get()), "asking for image sizes");
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetInputDynamicGearCount(desc, -1, &shapes), "asking for shapes");
  if (sizes->hwCount == 0 && shapes == 0) return {};
  return Status(StatusCode::kUnsupported,
                fmt::format("the model leaves its {} open (--{}): compile it for one size, with --dynamic_batch_size at "
                            "most, to run it on pictures",
                            shapes == 0 ? "image size" : "dims", shapes == 0 ? "dynamic_image_size" : "dynamic_dims"));
}

Result<TensorInfo> DescribeInput(aclmdlDesc* desc, int64_t largest) {
  TensorInfo input;
  input.name = aclmdlGetInputNameByIndex(desc, 0);
  input.type = aclmdlGetInputDataType(desc, 0);
  aclmdlIODims dims{};
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetInputDimsV2(desc, 0, &dims), "asking for the input's shape");
  input.dims = DimsOfOneImage(dims);
  input.bytes = aclmdlGetInputSizeByIndex(desc, 0) / static_cast<size_t>(largest);
  return input;
}

Result<TensorInfo> DescribeOutput(aclmdlDesc* desc, size_t index, int64_t largest) {
  TensorInfo output;
  output.name = aclmdlGetOutputNameByIndex(desc, index);
  output.type = aclmdlGetOutputDataType(desc, index);
  aclmdlIODims dims{};
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetOutputDims(desc, index, &dims), "asking for an output's shape");
  const size_t bytes = aclmdlGetOutputSizeByIndex(desc, index);
  const bool per_image = largest == 1 || (dims.dimCount > 0 && dims.dims[0] == largest);
  if (!per_image || bytes % static_cast<size_t>(largest) != 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("output '{}' does not have the batch as its first axis", output.name));
  }
  output.dims = DimsOfOneImage(dims);
  if (largest == 1 && dims.dimCount > 0) output.dims[0] = dims.dims[0];
  output.bytes = bytes / static_cast<size_t>(largest);
  return output;
}

Status DescribePicture(uint32_t model_id, ModelInfo& info) {
  aclmdlInputAippType type = ACL_DATA_WITHOUT_AIPP;
  size_t ignored = 0;
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetAippType(model_id, 0, &type, &ignored), "asking for the input's AIPP");
  if (type != ACL_DATA_WITH_STATIC_AIPP) return {};
  // The structure holds 128 shapes, too much for a thread's stack to be taken lightly.
  const auto aipp = std::make_unique<aclAippInfo>();
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetFirstAippInfo(model_id, 0, aipp.get()), "asking for the input's AIPP");
  if (aipp->inputFormat != ACL_YUV420SP_U8 && aipp->inputFormat != ACL_RGB888_U8) {
    return Status(StatusCode::kUnsupported, fmt::format("AIPP input format {} is neither YUV420SP_U8 nor RGB888_U8",
                                                        static_cast<int>(aipp->inputFormat)));
  }
  info.picture_format = aipp->inputFormat == ACL_YUV420SP_U8 ? PictureFormat::kNv12 : PictureFormat::kRgb888;
  info.picture_width = aipp->srcImageSizeW;
  info.picture_height = aipp->srcImageSizeH;
  return {};
}

}  // namespace

Result<std::unique_ptr<LoadedModel>> LoadedModel::Load(const std::filesystem::path& om, int device_id) {
  std::unique_ptr<LoadedModel> model(new LoadedModel);
  if (Status status = model->Open(om, device_id); !status.ok()) return status.WithContext(om.string());
  if (Status status = model->Describe(); !status.ok()) return status.WithContext(om.string());
  return model;
}

Status LoadedModel::Open(const std::filesystem::path& om, int device_id) {
  NPUSTREAM_ASSIGN_OR_RETURN(session_, AclSession::Acquire());
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtCreateContext(&context_, device_id), "creating a context");
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtCreateStream(&stream_), "creating a stream");
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlLoadFromFile(om.c_str(), &id_), "loading");
  loaded_ = true;
  return {};
}

Status LoadedModel::Describe() {
  const DescHandle desc(aclmdlCreateDesc());
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlGetDesc(desc.get(), id_), "describing");
  NPUSTREAM_RETURN_IF_ERROR(RefuseOtherGears(desc.get()));
  const size_t inputs = aclmdlGetNumInputs(desc.get());
  for (size_t i = 0; i < inputs; ++i) {
    if (std::string_view(aclmdlGetInputNameByIndex(desc.get(), i)) == ACL_DYNAMIC_TENSOR_NAME) {
      batch_input_ = BatchInput{i, aclmdlGetInputSizeByIndex(desc.get(), i)};
    }
  }
  if (inputs - (batch_input_ ? 1 : 0) != 1 || (batch_input_ && batch_input_->index != 1)) {
    return Status(StatusCode::kUnsupported, fmt::format("has {} inputs, a model of pictures has one", inputs));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(info_.gears, Gears(desc.get()));
  const int64_t largest = info_.gears.back();
  NPUSTREAM_ASSIGN_OR_RETURN(info_.input, DescribeInput(desc.get(), largest));
  for (size_t i = 0; i < aclmdlGetNumOutputs(desc.get()); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(TensorInfo output, DescribeOutput(desc.get(), i, largest));
    info_.outputs.push_back(std::move(output));
  }
  return DescribePicture(id_, info_);
}

LoadedModel::~LoadedModel() {
  if (context_ == nullptr) return;
  aclrtSetCurrentContext(context_);
  if (loaded_) aclmdlUnload(id_);
  if (stream_ != nullptr) aclrtDestroyStream(stream_);
  aclrtDestroyContext(context_);
}

Status LoadedModel::MakeCurrent() const { return AclStatus(aclrtSetCurrentContext(context_), "entering a context"); }

}  // namespace npustream::serving
