#pragma once

#include <memory>

#include <gst/gst.h>

#include "elements/sink/record_publisher.h"

namespace npustream::elements {

// The part of an element that writes records down: its properties, its publisher between start and stop, and the
// translation of failures into messages. npumetasink and npupublish are this behind a base sink and a base transform.
class GstPublisher {
 public:
  static void InstallProperties(GObjectClass* klass);

  // `stats_name`, a literal, is the name of the `stats` structure.
  GstPublisher(GstElement* owner, const char* stats_name) : owner_(owner), stats_name_(stats_name) {}

  // Opens the output. False after a message of what failed, as with Stop.
  gboolean Start();
  gboolean Stop();
  // Between Start and Stop, on the streaming thread.
  GstFlowReturn Publish(GstBuffer* buffer, const GstSegment& segment);
  // At the end of the stream everything has been written.
  void OnEvent(GstEvent* event);

  // Any thread.
  void SetProperty(guint id, const GValue* value, GParamSpec* spec);
  void GetProperty(guint id, GValue* value, GParamSpec* spec);

 private:
  std::shared_ptr<RecordPublisher> publisher() const;
  // Posts a failure; whether there was none.
  bool Report(const Status& status) const;

  GstElement* const owner_;
  const char* const stats_name_;
  PublisherOptions options_;  // guarded by the object lock
  // Set by Start; shared, because somebody may be reading statistics while the element starts again.
  std::shared_ptr<RecordPublisher> publisher_;  // guarded by the object lock
};

}  // namespace npustream::elements
