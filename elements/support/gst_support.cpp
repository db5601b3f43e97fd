#include "elements/support/gst_support.h"

#include <memory>

namespace npustream::elements {
namespace {

struct GFree {
  void operator()(gchar* text) const { g_free(text); }
};
using UniqueText = std::unique_ptr<gchar, GFree>;

}  // namespace

void PostError(GstElement* element, const Status& status) {
  const gchar* message = status.message().c_str();
  switch (status.code()) {
    case StatusCode::kNotFound: GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("%s", message), (nullptr)); break;
    case StatusCode::kInvalidArgument:
      GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS, ("%s", message), (nullptr));
      break;
    case StatusCode::kResourceExhausted:
      GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("%s", message), (nullptr));
      break;
    case StatusCode::kIoError: GST_ELEMENT_ERROR(element, RESOURCE, WRITE, ("%s", message), (nullptr)); break;
    default: GST_ELEMENT_ERROR(element, LIBRARY, FAILED, ("%s", message), (nullptr)); break;
  }
}

void PostWarning(GstElement* element, const Status& status) {
  GST_ELEMENT_WARNING(element, LIBRARY, FAILED, ("%s", status.message().c_str()), (nullptr));
}

std::string SourceNameOf(GstPad* sink_pad) {
  GstQuery* query = gst_query_new_uri();
  std::string name;
  if (gst_pad_peer_query(sink_pad, query)) {
    gchar* uri = nullptr;
    gst_query_parse_uri(query, &uri);
    const UniqueText owned_uri(uri);
    const UniqueText path(uri == nullptr ? nullptr : g_filename_from_uri(uri, nullptr, nullptr));
    if (path != nullptr) name = UniqueText(g_path_get_basename(path.get())).get();
  }
  gst_query_unref(query);
  return name;
}

}  // namespace npustream::elements
