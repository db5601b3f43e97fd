#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gtest/gtest.h>

namespace npustream::testing_support {

// GStreamer with the built plugin, whatever is installed; a registry of its own, so that nobody's is written.
inline void InitGstreamer() {
  static const bool ready = [] {
    setenv("GST_PLUGIN_PATH", NPUSTREAM_BINARY_DIR "/lib/gstreamer-1.0", 1);
    setenv("GST_REGISTRY", NPUSTREAM_BINARY_DIR "/tests/gstreamer-registry.bin", 1);
    gst_init(nullptr, nullptr);
    return true;
  }();
  (void)ready;
}

struct HarnessTeardown {
  void operator()(GstHarness* harness) const { gst_harness_teardown(harness); }
};
using Harness = std::unique_ptr<GstHarness, HarnessTeardown>;

inline Harness MakeHarness(const std::string& launch_line) {
  InitGstreamer();
  return Harness(gst_harness_new_parse(launch_line.c_str()));
}

struct BufferUnref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using UniqueBuffer = std::unique_ptr<GstBuffer, BufferUnref>;

struct ObjectUnref {
  template <typename T>
  void operator()(T* object) const {
    gst_object_unref(object);
  }
};

// A pipeline as gst-launch would build it.
class Pipeline {
 public:
  explicit Pipeline(const std::string& launch_line) {
    InitGstreamer();
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch(launch_line.c_str(), &error));
    if (error != nullptr) {
      error_ = error->message;
      g_error_free(error);
    }
  }
  ~Pipeline() {
    if (pipeline_ != nullptr) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  }

  // Plays until end of stream: "", or the message of the first error, or "timeout".
  std::string Run(int timeout_s = 60) {
    if (pipeline_ == nullptr || !error_.empty()) return "parse: " + error_;
    std::unique_ptr<GstBus, ObjectUnref> bus(gst_element_get_bus(pipeline_.get()));
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    GstMessage* message = gst_bus_timed_pop_filtered(bus.get(), timeout_s * GST_SECOND,
                                                     static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    if (message == nullptr) return "timeout";
    std::string outcome;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      outcome = error->message;
      g_error_free(error);
    }
    gst_message_unref(message);
    return outcome;
  }

  std::unique_ptr<GstElement, ObjectUnref> Get(const char* name) {
    return std::unique_ptr<GstElement, ObjectUnref>(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  }
  GstElement* element() { return pipeline_.get(); }

  // A count from the `stats` structure of the element with this name; −1 when it is not there.
  int64_t Stat(const char* element, const char* field) {
    const auto found = Get(element);
    if (found == nullptr) return -1;
    GstStructure* stats = nullptr;
    g_object_get(found.get(), "stats", &stats, nullptr);
    guint64 value = 0;
    const bool present = stats != nullptr && gst_structure_get_uint64(stats, field, &value);
    if (stats != nullptr) gst_structure_free(stats);
    return present ? static_cast<int64_t>(value) : -1;
  }

 private:
  std::unique_ptr<GstElement, ObjectUnref> pipeline_;
  std::string error_;
};

}  // namespace npustream::testing_support
