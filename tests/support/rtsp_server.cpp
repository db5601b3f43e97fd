#include "tests/support/rtsp_server.h"

#include <utility>

namespace npustream::testing_support {
namespace {

// What counts the frames of one stream; lives as long as the stream's payloader.
struct FrameCounter {
  std::function<void(int)> on_frame;
  int frames = 0;
};

GstPadProbeReturn CountFrame(GstPad*, GstPadProbeInfo*, gpointer counter) {
  auto* self = static_cast<FrameCounter*>(counter);
  self->on_frame(++self->frames);
  return GST_PAD_PROBE_OK;
}

void WatchMedia(GstRTSPMediaFactory*, GstRTSPMedia* media, gpointer on_frame) {
  GstElement* bin = gst_rtsp_media_get_element(media);
  GstElement* payloader = gst_bin_get_by_name(GST_BIN(bin), "pay0");
  GstPad* pad = gst_element_get_static_pad(payloader, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, CountFrame,
                    new FrameCounter{*static_cast<std::function<void(int)>*>(on_frame)},
                    [](gpointer counter) { delete static_cast<FrameCounter*>(counter); });
  gst_object_unref(pad);
  gst_object_unref(payloader);
  gst_object_unref(bin);
}

GstRTSPAuth* MakeAuth(const std::string& user, const std::string& password) {
  GstRTSPAuth* auth = gst_rtsp_auth_new();
  GstRTSPToken* token =
      gst_rtsp_token_new(GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, user.c_str(), nullptr);
  gchar* basic = gst_rtsp_auth_make_basic(user.c_str(), password.c_str());
  gst_rtsp_auth_add_basic(auth, basic, token);
  g_free(basic);
  gst_rtsp_token_unref(token);
  return auth;
}

}  // namespace

RtspServer::RtspServer(const std::string& user, const std::string& password) : user_(user) {
  gst_init(nullptr, nullptr);
  context_.reset(g_main_context_new());
  loop_.reset(g_main_loop_new(context_.get(), FALSE));
  server_.reset(gst_rtsp_server_new());
  gst_rtsp_server_set_address(server_.get(), "127.0.0.1");
  gst_rtsp_server_set_service(server_.get(), "0");  // any port that is free
  if (!user.empty()) {
    GstRTSPAuth* auth = MakeAuth(user, password);
    gst_rtsp_server_set_auth(server_.get(), auth);
    g_object_unref(auth);
  }
  gst_rtsp_server_attach(server_.get(), context_.get());
  thread_ = std::thread([loop = loop_.get()] { g_main_loop_run(loop); });
}

RtspServer::~RtspServer() {
  const auto quit = [](gpointer loop) -> gboolean {
    g_main_loop_quit(static_cast<GMainLoop*>(loop));
    return G_SOURCE_REMOVE;
  };
  g_main_context_invoke(context_.get(), quit, loop_.get());
  thread_.join();
}

void RtspServer::Serve(const std::string& path, const std::string& chain, std::function<void(int)> on_frame) {
  GstRTSPMediaFactory* factory = gst_rtsp_media_factory_new();
  gst_rtsp_media_factory_set_launch(factory, ("( " + chain + " )").c_str());
  if (!user_.empty()) {
    gst_rtsp_media_factory_add_role(factory, user_.c_str(), GST_RTSP_PERM_MEDIA_FACTORY_ACCESS, G_TYPE_BOOLEAN, TRUE,
                                    GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT, G_TYPE_BOOLEAN, TRUE, nullptr);
  }
  if (on_frame) {
    g_signal_connect_data(
        factory, "media-configure", G_CALLBACK(WatchMedia), new std::function<void(int)>(std::move(on_frame)),
        [](gpointer callback, GClosure*) { delete static_cast<std::function<void(int)>*>(callback); },
        static_cast<GConnectFlags>(0));
  }
  GstRTSPMountPoints* mounts = gst_rtsp_server_get_mount_points(server_.get());
  gst_rtsp_mount_points_add_factory(mounts, path.c_str(), factory);
  g_object_unref(mounts);
}

void RtspServer::HangUp() {
  const auto close = [](gpointer server) -> gboolean {
    const auto all = [](GstRTSPServer*, GstRTSPClient*, gpointer) { return GST_RTSP_FILTER_REMOVE; };
    g_list_free(gst_rtsp_server_client_filter(static_cast<GstRTSPServer*>(server), all, nullptr));
    return G_SOURCE_REMOVE;
  };
  g_main_context_invoke(context_.get(), close, server_.get());
}

std::string RtspServer::Uri(const std::string& path, const std::string& credentials) const {
  return "rtsp://" + (credentials.empty() ? "" : credentials + "@") +
         "127.0.0.1:" + std::to_string(gst_rtsp_server_get_bound_port(server_.get())) + path;
}

}  // namespace npustream::testing_support
