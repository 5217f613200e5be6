// Prints every name that the manual must explain: "stage scores", "check softmax.row_sum", a line
// each.
#include <cstdio>
#include <string>

#include "qkv/attention/presets.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/block/stage_list.hpp"
#include "qkv/checks/block_check.hpp"
#include "qkv/checks/check.hpp"
#include "qkv/io/format.hpp"

int main() {
  for (const qkv::StageInfo& stage : qkv::stage_list())
    std::printf("stage %s\n", std::string(stage.id).c_str());
  for (const qkv::StageInfo& stage : qkv::block_stage_list())
    std::printf("stage %s\n", std::string(stage.id).c_str());
  for (const qkv::BlockCheck& check : qkv::block_check_list())
    std::printf("check %s\n", std::string(check.id).c_str());
  for (const qkv::Check& check : qkv::check_list())
    std::printf("check %s\n", std::string(check.id).c_str());
  for (const qkv::Preset& preset : qkv::preset_list())
    std::printf("preset %s\n", std::string(preset.name).c_str());
  for (const qkv::Format& format : qkv::format_list())
    std::printf("format %s\n", std::string(format.suffix).c_str());
}
