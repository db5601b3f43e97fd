// Reads the include lines of the whole tree and holds them against ARCHITECTURE.md: floors point downwards only.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace npustream {
namespace {

namespace fs = std::filesystem;

// A room of the house and the rooms whose headers it may include besides its own.
struct Room {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

// The longest matching folder is a file's room.
const std::vector<Room>& Rooms() {
  static const std::vector<Room> rooms = {
      {"base", {}},
      {"npu_sim/om", {"base"}},
      {"npu_sim/extension", {"base", "npu_sim/om"}},
      {"npu_sim/kernels", {"base", "npu_sim/om", "npu_sim/extension"}},
      {"npu_sim/program", {"base", "npu_sim/om", "npu_sim/kernels"}},
      {"npu_sim/device", {"base"}},
      {"npu_sim/compiler",
       {"base", "npu_sim/om", "npu_sim/extension", "npu_sim/kernels", "npu_sim/program", "npu_sim/device"}},
      {"runtime/acl", {"base", "npu_sim/om", "npu_sim/program", "npu_sim/device"}},
      {"dvpp", {"base", "npu_sim/device", "runtime/acl"}},
      {"runtime/serving", {"base"}},
      {"elements", {"base", "runtime/serving"}},
      // The byte counters of the device have no place in the vendor's interface.
      {"pipeline", {"base", "npu_sim/device", "runtime/serving", "elements"}},
      {"apps",
       {"base", "npu_sim/om", "npu_sim/extension", "npu_sim/kernels", "npu_sim/device", "npu_sim/program", "npu_sim/compiler",
        "runtime/serving", "pipeline"}},
  };
  return rooms;
}

const Room* RoomOf(std::string_view path) {
  const Room* best = nullptr;
  for (const Room& room : Rooms()) {
    if (path.starts_with(room.folder) && path.substr(room.folder.size()).starts_with('/') &&
        (best == nullptr || room.folder.size() > best->folder.size())) {
      best = &room;
    }
  }
  return best;
}

// What third parties may be named where.
struct Restriction {
  std::string_view header_prefix;
  std::vector<std::string_view> allowed_folders;
};

const std::vector<Restriction>& Restrictions() {
  static const std::vector<Restriction> restrictions = {
      {"gst/", {"elements/", "pipeline/", "apps/"}},
      {"glib", {"elements/", "pipeline/", "apps/"}},
      {"onnx/", {"npu_sim/compiler/onnx/"}},
      {"google/protobuf/", {"npu_sim/compiler/"}},
      {"oneapi/dnnl/", {"npu_sim/kernels/", "npu_sim/program/"}},
      {"libav", {"dvpp/"}},
  };
  return restrictions;
}

struct Include {
  fs::path file;  // relative to the root
  int line = 0;
  std::string header;
};

std::vector<Include> AllIncludes() {
  static const std::regex pattern(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  const fs::path root = NPUSTREAM_SOURCE_DIR;
  std::vector<Include> includes;
  for (const char* folder : {"base", "npu_sim", "runtime", "dvpp", "elements", "pipeline", "apps"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".c") continue;
      std::ifstream stream(entry.path());
      std::string text;
      std::smatch match;
      for (int line = 1; std::getline(stream, text); ++line) {
        if (std::regex_search(text, match, pattern)) {
          includes.push_back({fs::relative(entry.path(), root), line, match[1]});
        }
      }
    }
  }
  return includes;
}

std::string Place(const Include& include) {
  return include.file.string() + ":" + std::to_string(include.line) + " includes " + include.header;
}

TEST(IncludeDirection, FindsTheTree) { EXPECT_GT(AllIncludes().size(), 100u); }

TEST(IncludeDirection, FloorsPointDownwards) {
  for (const Include& include : AllIncludes()) {
    const Room* to = RoomOf(include.header);
    if (to == nullptr) continue;
    const Room* from = RoomOf(include.file.string());
    ASSERT_NE(from, nullptr) << include.file;
    if (from == to) continue;
    const auto& allowed = from->may_include;
    EXPECT_TRUE(std::find(allowed.begin(), allowed.end(), to->folder) != allowed.end()) << Place(include);
  }
}

TEST(IncludeDirection, ThirdPartiesStayInTheirRooms) {
  for (const Include& include : AllIncludes()) {
    for (const Restriction& restriction : Restrictions()) {
      if (!include.header.starts_with(restriction.header_prefix)) continue;
      const std::string file = include.file.string();
      EXPECT_TRUE(std::any_of(restriction.allowed_folders.begin(), restriction.allowed_folders.end(),
                              [&](std::string_view folder) { return file.starts_with(folder); }))
          << Place(include);
    }
  }
}

// What runs on a real card sees the vendor's headers alone.
TEST(IncludeDirection, PortableFloorsIncludeOnlyTheVendorsHeaders) {
  for (const Include& include : AllIncludes()) {
    const std::string file = include.file.string();
    if (!file.starts_with("elements/") && !file.starts_with("runtime/serving/")) continue;
    EXPECT_FALSE(include.header.starts_with("npu_sim/") || include.header.starts_with("dvpp/") ||
                 include.header.starts_with("runtime/acl/"))
        << Place(include);
  }
}

}  // namespace
}  // namespace npustream
