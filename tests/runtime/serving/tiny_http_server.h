#pragma once

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace npustream::serving {

// Answers GET on a free port of 127.0.0.1, one connection after the other, 404 for what it does not have.
class TinyHttpServer {
 public:
  TinyHttpServer();
  ~TinyHttpServer();

  std::string Url(const std::string& path) const;
  void Serve(const std::string& path, const std::string& body) { ServeCutShort(path, body, body.size()); }
  // Announces the whole body but closes the connection after `sent_bytes` of it.
  void ServeCutShort(const std::string& path, const std::string& body, size_t sent_bytes);
  int requests() const { return requests_; }

 private:
  struct Answer {
    std::string body;
    size_t sent_bytes = 0;
  };
  void Run();
  void AnswerOne(int connection);

  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  Mutex mutex_;
  std::map<std::string, Answer> answers_ NPUSTREAM_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace npustream::serving
