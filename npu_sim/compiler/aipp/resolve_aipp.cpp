#include "npu_sim/compiler/aipp/resolve_aipp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace npustream::compiler {
namespace {

// Resolves one block for the input that it names.
class Resolver {
 public:
  Resolver(const AippBlock& block, const AippTarget& input) : block_(block), input_(input), config_(block.config) {}

  Result<om::AippConfig> Run() {
    NPUSTREAM_RETURN_IF_ERROR(CheckInput());
    NPUSTREAM_RETURN_IF_ERROR(ResolveSource());
    NPUSTREAM_RETURN_IF_ERROR(ResolveCrop());
    NPUSTREAM_RETURN_IF_ERROR(CheckResultSize());
    NPUSTREAM_RETURN_IF_ERROR(CheckChannels());
    return config_;
  }

 private:
  Status Error(const std::string& what) const {
    return {StatusCode::kInvalidArgument, fmt::format("{}: {}", block_.where, what)};
  }
  bool Is(std::string_view format) const { return config_.input_format == format; }
  int64_t ModelHeight() const { return input_.dims[2]; }
  int64_t ModelWidth() const { return input_.dims[3]; }

  Status CheckInput() const {
    if (!block_.Has("input_format")) return Error("input_format is required for static AIPP");
    if (input_.dims.size() != 4 || (input_.type != om::DataType::kFloat32 && input_.type != om::DataType::kFloat16)) {
      return Error(fmt::format("input '{}' of shape [{}] is not a float picture in NCHW order", input_.name,
                               fmt::join(input_.dims, ",")));
    }
    return {};
  }

  Status ResolveSource() {
    const bool sized = config_.src_image_size_w != 0 && config_.src_image_size_h != 0;
    if (!sized && (config_.crop || config_.padding)) {
      return Error("src_image_size_w and src_image_size_h are required with crop or padding");
    }
    if (ModelWidth() > 4096 || ModelHeight() > 4096) return Error("the model's picture is larger than 4096 x 4096");
    if (config_.src_image_size_w == 0) config_.src_image_size_w = static_cast<int32_t>(ModelWidth());
    if (config_.src_image_size_h == 0) config_.src_image_size_h = static_cast<int32_t>(ModelHeight());
    if (config_.src_image_size_w < 2) return Error("src_image_size_w must be 2 to 4096");
    const bool odd = config_.src_image_size_w % 2 != 0 || config_.src_image_size_h % 2 != 0;
    if (Is("YUV420SP_U8") && odd) {
      return Error(fmt::format("the source size {} x {} must be even for YUV420SP_U8", config_.src_image_size_w,
                               config_.src_image_size_h));
    }
    return {};
  }

  Status ResolveCrop() {
    if (!config_.crop) {
      config_.load_start_pos_w = config_.load_start_pos_h = 0;
      config_.crop_size_w = config_.src_image_size_w;
      config_.crop_size_h = config_.src_image_size_h;
      return {};
    }
    const bool open = config_.crop_size_w == 0 || config_.crop_size_h == 0;
    if (open && config_.padding) return Error("crop_size_w and crop_size_h are required together with padding");
    if (config_.crop_size_w == 0) config_.crop_size_w = static_cast<int32_t>(ModelWidth());
    if (config_.crop_size_h == 0) config_.crop_size_h = static_cast<int32_t>(ModelHeight());
    if (config_.load_start_pos_w + config_.crop_size_w > config_.src_image_size_w ||
        config_.load_start_pos_h + config_.crop_size_h > config_.src_image_size_h) {
      return Error(fmt::format("the crop {} x {} at {},{} leaves the source of {} x {}", config_.crop_size_w,
                               config_.crop_size_h, config_.load_start_pos_w, config_.load_start_pos_h,
                               config_.src_image_size_w, config_.src_image_size_h));
    }
    const bool odd = config_.load_start_pos_w % 2 != 0 || config_.load_start_pos_h % 2 != 0;
    if (Is("YUV420SP_U8") && odd) return Error("load_start_pos_w and load_start_pos_h must be even for YUV420SP_U8");
    return {};
  }

  Status CheckResultSize() {
    if (!config_.padding) {
      config_.left_padding_size = config_.right_padding_size = 0;
      config_.top_padding_size = config_.bottom_padding_size = 0;
    }
    const int64_t width = config_.crop_size_w + config_.left_padding_size + config_.right_padding_size;
    const int64_t height = config_.crop_size_h + config_.top_padding_size + config_.bottom_padding_size;
    if (width == ModelWidth() && height == ModelHeight()) return {};
    return Error(fmt::format("crop and padding give {} x {}, but input '{}' is {} x {}", width, height, input_.name,
                             ModelWidth(), ModelHeight()));
  }

  Status CheckChannels() const {
    const int64_t channels = input_.dims[1];
    const bool grey = Is("YUV400_U8");
    if (grey && config_.csc_switch) return Error("csc_switch cannot be used with YUV400_U8");
    const bool fits = grey ? channels == 1 : channels == 3 || (channels == 4 && Is("XRGB8888_U8"));
    if (fits) return {};
    return Error(
        fmt::format("{} cannot feed input '{}' with its {} channels", config_.input_format, input_.name, channels));
  }

  const AippBlock& block_;
  const AippTarget& input_;
  om::AippConfig config_;
};

}  // namespace

Result<std::vector<om::AippConfig>> ResolveAipp(const std::vector<AippBlock>& blocks,
                                                const std::vector<AippTarget>& inputs) {
  std::vector<om::AippConfig> configs;
  std::set<int32_t> ranks;
  for (const AippBlock& block : blocks) {
    const auto refuse = [&](StatusCode code, const std::string& what) {
      return Status(code, fmt::format("{}: {}", block.where, what));
    };
    if (block.config.aipp_mode == "dynamic")
      return refuse(StatusCode::kUnsupported, "dynamic AIPP is not supported yet");
    const int32_t rank = block.config.related_input_rank;
    if (static_cast<size_t>(rank) >= inputs.size()) {
      return refuse(StatusCode::kInvalidArgument,
                    fmt::format("related_input_rank {} does not exist: the model has {} inputs", rank, inputs.size()));
    }
    if (!ranks.insert(rank).second) {
      return refuse(StatusCode::kInvalidArgument, fmt::format("input {} has an aipp_op block already", rank));
    }
    NPUSTREAM_ASSIGN_OR_RETURN(om::AippConfig config, Resolver(block, inputs[static_cast<size_t>(rank)]).Run());
    configs.push_back(std::move(config));
  }
  return configs;
}

Result<std::vector<om::AippConfig>> ResolveAippForAnySize(const std::vector<AippBlock>& blocks,
                                                          const std::vector<AippTarget>& inputs) {
  for (const AippBlock& block : blocks) {
    const om::AippConfig& given = block.config;
    if (!given.crop && !given.padding && given.src_image_size_w == 0 && given.src_image_size_h == 0) continue;
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: with --dynamic_image_size, crop and padding must be off and src_image_size_w and "
                              "src_image_size_h 0 or left out",
                              block.where));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::AippConfig> configs, ResolveAipp(blocks, inputs));
  for (om::AippConfig& config : configs) {
    config.src_image_size_w = config.src_image_size_h = config.crop_size_w = config.crop_size_h = 0;
  }
  return configs;
}

}  // namespace npustream::compiler
