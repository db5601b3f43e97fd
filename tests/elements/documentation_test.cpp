// What gst-inspect shows: every property says what it is for and in which unit.
#include <cctype>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/elements/gst_test_support.h"

namespace npustream::elements {
namespace {

// Words of which a number's description has at least one.
constexpr const char* kUnits[] = {"frames", "Frames",    "milliseconds",      "pixels",
                                  "0 to 1", "Number of", "Objects per frame", "Batches"};

bool NamesAUnit(const std::string& text) {
  for (const char* unit : kUnits) {
    if (text.find(unit) != std::string::npos) return true;
  }
  return false;
}

bool IsNumber(GParamSpec* spec) {
  return G_IS_PARAM_SPEC_INT(spec) || G_IS_PARAM_SPEC_UINT(spec) || G_IS_PARAM_SPEC_DOUBLE(spec);
}

class Documentation : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    testing_support::InitGstreamer();
    element_.reset(gst_element_factory_make(GetParam(), nullptr));
    ASSERT_NE(element_, nullptr);
    gst_object_ref_sink(element_.get());
  }
  std::unique_ptr<GstElement, testing_support::ObjectUnref> element_;
};

TEST_P(Documentation, EveryPropertyHasADescriptionWithItsUnit) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element_.get()), &count);
  for (guint i = 0; i < count; ++i) {
    GParamSpec* spec = specs[i];
    if (spec->owner_type != G_OBJECT_TYPE(element_.get())) continue;
    const std::string blurb = g_param_spec_get_blurb(spec) == nullptr ? "" : g_param_spec_get_blurb(spec);
    EXPECT_GT(blurb.size(), 20u) << spec->name;
    for (const char* c = spec->name; *c != '\0'; ++c) EXPECT_TRUE(std::islower(*c) || *c == '-') << spec->name;
    const std::string name = spec->name;
    if (IsNumber(spec) && name != "text-scale") {
      EXPECT_TRUE(NamesAUnit(blurb)) << name << ": " << blurb;
    }
    const bool is_milliseconds = name.size() > 3 && name.substr(name.size() - 3) == "-ms";
    EXPECT_EQ(IsNumber(spec) && blurb.find("milliseconds") != std::string::npos, is_milliseconds) << name;
  }
  g_free(specs);
}

TEST_P(Documentation, TheElementSaysWhatItDoes) {
  GstElementFactory* factory = gst_element_get_factory(element_.get());
  for (const char* key :
       {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS, GST_ELEMENT_METADATA_DESCRIPTION}) {
    const char* text = gst_element_factory_get_metadata(factory, key);
    ASSERT_NE(text, nullptr) << key;
    EXPECT_GT(std::string(text).size(), 5u) << key;
  }
  EXPECT_EQ(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), static_cast<guint>(GST_RANK_NONE));
}

TEST_P(Documentation, PropertiesAreReadBackAsTheyWereSet) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element_.get()), &count);
  for (guint i = 0; i < count; ++i) {
    if (specs[i]->owner_type != G_OBJECT_TYPE(element_.get()) || !(specs[i]->flags & G_PARAM_WRITABLE)) continue;
    GValue set = G_VALUE_INIT, got = G_VALUE_INIT;
    g_value_init(&set, specs[i]->value_type);
    g_value_init(&got, specs[i]->value_type);
    if (auto* number = G_IS_PARAM_SPEC_INT(specs[i]) ? G_PARAM_SPEC_INT(specs[i]) : nullptr) {
      g_value_set_int(&set, number->maximum);
    } else if (auto* count_spec = G_IS_PARAM_SPEC_UINT(specs[i]) ? G_PARAM_SPEC_UINT(specs[i]) : nullptr) {
      g_value_set_uint(&set, count_spec->maximum);
    } else if (auto* real = G_IS_PARAM_SPEC_DOUBLE(specs[i]) ? G_PARAM_SPEC_DOUBLE(specs[i]) : nullptr) {
      g_value_set_double(&set, real->maximum);
    } else if (G_IS_PARAM_SPEC_STRING(specs[i])) {
      g_value_set_string(&set, "some text");
    } else {
      g_value_copy(g_param_spec_get_default_value(specs[i]), &set);
    }
    g_object_set_property(G_OBJECT(element_.get()), specs[i]->name, &set);
    g_object_get_property(G_OBJECT(element_.get()), specs[i]->name, &got);
    EXPECT_EQ(g_param_values_cmp(specs[i], &set, &got), 0) << specs[i]->name;
    g_value_unset(&set);
    g_value_unset(&got);
  }
  g_free(specs);
}

INSTANTIATE_TEST_SUITE_P(Elements, Documentation,
                         testing::Values("npudetect", "npudownload", "npuinfer", "npumetasink", "npuosd",
                                         "npupostprocess", "npupreprocess", "npupublish", "npuupload", "npuvdec"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace npustream::elements
