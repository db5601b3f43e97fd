#include "pipeline/camera/picture_feeder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"
#include "pipeline/camera/gst_handles.h"
#include "pipeline/config/picture_type.h"

namespace npustream::pipeline {
namespace {

namespace fs = std::filesystem;

// A file that claims to be a picture and is none gets into the list, so that it is reported.
bool IsPictureName(const fs::path& name) {
  constexpr std::array<std::string_view, 5> kEndings{".jpg", ".jpeg", ".png", ".bmp", ".webp"};
  std::string ending = name.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

}  // namespace

Result<std::vector<fs::path>> ListPictures(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return Status(StatusCode::kNotFound, fmt::format("{} does not exist", path.string()));
  if (!fs::is_directory(path, error)) return std::vector<fs::path>{path};
  std::vector<fs::path> pictures;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && (IsPictureName(entry->path()) || IsPictureFile(entry->path())))
      pictures.push_back(entry->path());
  }
  if (error) {
    return Status(StatusCode::kIoError, fmt::format("cannot read the folder {}: {}", path.string(), error.message()));
  }
  if (pictures.empty()) {
    return Status(StatusCode::kNotFound,
                  fmt::format("the folder {} has no pictures ({})", path.string(), kPictureKinds));
  }
  std::sort(pictures.begin(), pictures.end());
  return pictures;
}

PictureFeeder::~PictureFeeder() { Join(); }

void PictureFeeder::Join() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void PictureFeeder::Start(GstAppSrc* source) {
  gst_object_ref(source);
  thread_ = std::thread([this, source] {
    Run(source);
    gst_object_unref(source);
  });
}

void PictureFeeder::Run(GstAppSrc* source) {
  for (size_t i = 0; i < pictures_.size() && !stopping_; ++i) {
    if (!Push(source, i)) return;
  }
  gst_app_src_end_of_stream(source);
}

bool PictureFeeder::Push(GstAppSrc* source, size_t index) {
  const Result<std::string> content = ReadTextFile(pictures_[index]);
  const char* type = content.ok() ? PictureMediaType(*content) : nullptr;
  if (type == nullptr) {
    unreadable_.push_back(content.ok() ? fmt::format("{} is not a picture", pictures_[index].string())
                                       : content.status().message());
    return true;
  }
  GstBuffer* buffer = gst_buffer_new_memdup(content->data(), content->size());
  GST_BUFFER_PTS(buffer) = index * kStep;
  GST_BUFFER_DURATION(buffer) = kStep;
  const UniqueCaps caps(gst_caps_new_empty_simple(type));
  const UniqueSample sample(gst_sample_new(buffer, caps.get(), nullptr, nullptr));
  gst_buffer_unref(buffer);
  if (gst_app_src_push_sample(source, sample.get()) != GST_FLOW_OK) return false;
  handed_in_.push_back(index);
  return true;
}

}  // namespace npustream::pipeline
