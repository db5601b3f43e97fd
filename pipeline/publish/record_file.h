#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/mutex.h"
#include "base/status.h"

namespace npustream::pipeline {

// A file of records that several cameras write to, line by line. Thread-safe.
class RecordFile {
 public:
  enum class Visibility {
    kAtOnce,    // lines appear in the file as they are written, as somebody who follows it expects
    kOnCommit,  // the file appears as a whole with Commit(), or not at all
  };

  // "-" is the standard output. Parent folders are made. kIoError names the file and the reason.
  static Result<std::unique_ptr<RecordFile>> Open(const std::string& path, Visibility visibility);
  // Without Commit() a file of kOnCommit leaves nothing behind.
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Writes `line` and a newline. The first failure (a full disk) stays until Commit.
  Status Write(std::string_view line);
  // Everything is on its way to the disk and, for kOnCommit, under its name.
  Status Commit();

 private:
  RecordFile(std::string path, std::optional<NewFile> replacement, std::FILE* file)
      : path_(std::move(path)), replacement_(std::move(replacement)), file_(file) {}
  Status Failure(std::string_view what) const;

  const std::string path_;
  mutable Mutex mutex_;
  std::optional<NewFile> replacement_ NPUSTREAM_GUARDED_BY(mutex_);  // where the lines of kOnCommit go
  std::FILE* file_ NPUSTREAM_GUARDED_BY(mutex_) = nullptr;
  Status status_ NPUSTREAM_GUARDED_BY(mutex_);
};

// The record files of a run, by path. Used by one thread; the files by many.
class RecordFiles {
 public:
  explicit RecordFiles(RecordFile::Visibility visibility) : visibility_(visibility) {}

  // The file of this path; null for an empty path. Lives as long as this object.
  Result<RecordFile*> For(const std::string& path);
  Status CommitAll();

 private:
  const RecordFile::Visibility visibility_;
  std::map<std::string, std::unique_ptr<RecordFile>> files_;
};

}  // namespace npustream::pipeline
