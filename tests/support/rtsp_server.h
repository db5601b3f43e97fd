#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <gst/rtsp-server/rtsp-server.h>

namespace npustream::testing_support {

// An RTSP server on the loopback interface, with a thread of its own.
class RtspServer {
 public:
  // With a `user`, who does not know the password gets 401.
  explicit RtspServer(const std::string& user = "", const std::string& password = "");
  ~RtspServer();
  RtspServer(const RtspServer&) = delete;
  RtspServer& operator=(const RtspServer&) = delete;

  // A stream at `path` ("/gate") for each client that asks: a gst-launch chain that ends in a payloader named pay0.
  // `on_frame`, if any, gets the number of each frame that leaves, from 1, on a thread of the stream.
  void Serve(const std::string& path, const std::string& chain, std::function<void(int)> on_frame = nullptr);
  // Closes every connection without a word, as a camera does whose plug is pulled. Any thread; does not wait.
  void HangUp();

  // rtsp://127.0.0.1:PORT/path; `credentials` are "user:password" or nothing.
  std::string Uri(const std::string& path, const std::string& credentials = "") const;

 private:
  struct Unref {
    void operator()(GMainContext* context) const { g_main_context_unref(context); }
    void operator()(GMainLoop* loop) const { g_main_loop_unref(loop); }
    void operator()(GstRTSPServer* server) const { g_object_unref(server); }
  };

  std::unique_ptr<GMainContext, Unref> context_;
  std::unique_ptr<GMainLoop, Unref> loop_;
  std::unique_ptr<GstRTSPServer, Unref> server_;
  std::string user_;
  std::thread thread_;
};

}  // namespace npustream::testing_support
