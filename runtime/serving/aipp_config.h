#pragma once

#include <string>

#include "runtime/serving/model_description.h"

namespace npustream::serving {

// The text of an AIPP file (static AIPP for input 0) that turns a width × height picture of `format` into what the
// description says the model sees: colour conversion by BT.601 in video range for NV12, channel order, mean and std.
std::string AippConfig(const ModelDescription& description, PictureFormat format, int width, int height);

}  // namespace npustream::serving
