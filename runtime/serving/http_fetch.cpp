#include "runtime/serving/http_fetch.h"

#include <array>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/unique_handle.h"

namespace npustream::serving {
namespace {

using Progress = std::function<void(uint64_t, uint64_t)>;

constexpr size_t kMostBytes = size_t{2} << 30;
constexpr long kConnectSeconds = 30;
// A transfer below this many bytes a second for this long has hung.
constexpr long kSlowBytesPerSecond = 128;
constexpr long kSlowSeconds = 60;

size_t AppendBody(char* data, size_t size, size_t count, void* user) {
  auto& body = *static_cast<std::string*>(user);
  const size_t bytes = size * count;
  if (body.size() + bytes > kMostBytes) return 0;  // curl then ends the transfer with an error
  body.append(data, bytes);
  return bytes;
}

int ReportProgress(void* user, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
  const auto& progress = *static_cast<const Progress*>(user);
  if (progress && now > 0) progress(static_cast<uint64_t>(now), static_cast<uint64_t>(total));
  return 0;
}

void SetOptions(CURL* curl, const std::string& url, std::string& body, const Progress& progress, char* reason) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // other threads exist
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "npustream");
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, AppendBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, ReportProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &progress);
}

}  // namespace

Result<std::string> FetchUrl(const std::string& url, const Progress& progress) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const UniqueHandle<CURL, curl_easy_cleanup> curl(curl_easy_init());
  if (curl == nullptr) return Status(StatusCode::kInternal, "libcurl cannot be started");
  std::string body;
  std::array<char, CURL_ERROR_SIZE> reason{};
  SetOptions(curl.get(), url, body, progress, reason.data());
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_OK) return body;
  long http_code = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &http_code);
  const bool absent = http_code == 404 || http_code == 410;
  return Status(absent ? StatusCode::kNotFound : StatusCode::kUnavailable,
                fmt::format("{}: {}", url, reason[0] != '\0' ? reason.data() : curl_easy_strerror(code)));
}

}  // namespace npustream::serving
