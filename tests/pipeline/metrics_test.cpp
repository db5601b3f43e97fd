#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipeline/metrics/camera_metrics.h"
#include "pipeline/metrics/latency_histogram.h"
#include "pipeline/metrics/run_summary.h"

namespace npustream::pipeline {
namespace {

TEST(LatencyHistogram, QuantilesAreWithinABucket) {
  LatencyHistogram histogram;
  for (int64_t i = 1; i <= 1000; ++i) histogram.Add(i * 1'000'003);
  for (const auto& [fraction, rank] : {std::pair{0.5, 500}, {0.99, 990}, {1.0, 1000}, {0.001, 1}}) {
    const double exact = rank * 1'000'003.0;
    EXPECT_GE(histogram.QuantileNs(fraction), exact);
    EXPECT_LE(histogram.QuantileNs(fraction), exact * (1 + 1.0 / 64) + 1);
  }
}

TEST(LatencyHistogram, SmallValuesAreExactAndExtremesFit) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  histogram.Add(-5);
  histogram.Add(63);
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  EXPECT_EQ(histogram.QuantileNs(1.0), 63);
  histogram.Add(64);
  EXPECT_EQ(histogram.QuantileNs(1.0), 64);
  histogram.Add(INT64_MAX);
  EXPECT_EQ(histogram.QuantileNs(1.0), INT64_MAX);
}

TEST(CameraMetrics, EveryFrameIsARecordOrADrop) {
  CameraMetrics metrics;
  for (int i = 0; i < 10; ++i) metrics.OnFrameIn(i * 100'000'000);
  for (int i = 0; i < 7; ++i) metrics.OnRecord(5'000'000, 900'000'000);
  metrics.OnDropped("interval", 2, 950'000'000);
  metrics.OnDropped("decode", 1, 1'000'000'000);
  metrics.OnDropped("lost", 0, 9'000'000'000);
  const CameraFigures figures = metrics.Snapshot();
  EXPECT_EQ(figures.frames_in, figures.records_out + figures.TotalDropped());
  EXPECT_EQ(figures.inferred, 7u);
  EXPECT_THAT(figures.dropped, testing::UnorderedElementsAre(testing::Pair("interval", 2), testing::Pair("decode", 1)));
  EXPECT_DOUBLE_EQ(figures.Fps(), 10.0);
  EXPECT_NEAR(static_cast<double>(figures.latency_p99_ns), 5e6, 5e6 / 64);
}

RunSummary Summary() {
  RunSummary summary;
  summary.cameras.resize(2);
  CameraOutcome& gate = summary.cameras[0];
  gate.name = "gate";
  gate.figures.frames_in = 100;
  gate.figures.inferred = gate.figures.records_out = 98;
  gate.figures.dropped["decode"] = 2;
  gate.figures.first_ns = 0;
  gate.figures.last_ns = 2'000'000'000;
  gate.figures.latency_p50_ns = 12'345'678;
  gate.figures.latency_p99_ns = 20'000'000;
  summary.cameras[1].name = "yard";
  summary.cameras[1].failure = "yard.mp4 cannot be opened: no such file";
  summary.models["day"] = {40, 98, 1'000'000, 3'500'000};
  summary.copied = {1000, 2000, 30};
  summary.cpu_s = 1.5;
  summary.wall_s = 2.0;
  return summary;
}

// The shape is that of docs/configuration.md.
TEST(RunSummary, JsonHasTheDocumentedShape) {
  const auto json = nlohmann::json::parse(SummaryJson(Summary()));
  const auto& gate = json["cameras"]["gate"];
  EXPECT_EQ(gate["frames_in"], 100);
  EXPECT_EQ(gate["records_out"], 98);
  EXPECT_EQ(gate["dropped"], (nlohmann::json{{"decode", 2}}));
  EXPECT_EQ(gate["fps"], 50.0);
  EXPECT_EQ(gate["latency_ms"], (nlohmann::json{{"p50", 12.346}, {"p99", 20.0}}));
  EXPECT_FALSE(gate.contains("error"));
  EXPECT_EQ(json["cameras"]["yard"]["error"], "yard.mp4 cannot be opened: no such file");
  EXPECT_EQ(json["models"]["day"]["batches"], 40);
  EXPECT_EQ(json["models"]["day"]["mean_batch"], 2.45);
  EXPECT_EQ(json["models"]["day"]["queue_wait_ms"], (nlohmann::json{{"p50", 1.0}, {"p99", 3.5}}));
  EXPECT_EQ(json["bytes_copied"], (nlohmann::json{{"h2d", 1000}, {"d2h", 2000}, {"d2d", 30}}));
  EXPECT_EQ(json["cpu_ms_per_frame"], 15.0);
  EXPECT_EQ(json["wall_s"], 2.0);
}

TEST(RunSummary, TablesShowWhatWasDroppedAndWhy) {
  const std::string tables = SummaryTables(Summary());
  EXPECT_THAT(tables, testing::HasSubstr("decode 2"));
  EXPECT_THAT(tables, testing::HasSubstr("12.3 / 20.0"));
  EXPECT_THAT(tables, testing::HasSubstr("2.45"));
  EXPECT_TRUE(Summary().AnyFailed());
  EXPECT_EQ(Summary().FramesIn(), 100u);
}

}  // namespace
}  // namespace npustream::pipeline
