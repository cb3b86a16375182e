#pragma once
// The enumerations of agent.proto, for agent_report_convert and agent_order_convert.

#include "common/agent_messages.h"
#include "hai/v1/agent.pb.h"
#include "proto/convert/enums.h"

namespace hai {

inline constexpr EnumMap<RankPhase, v1::RankPhase, 3> kRankPhases{
    "phase",
    {{{RankPhase::starting, v1::RANK_PHASE_STARTING},
      {RankPhase::running, v1::RANK_PHASE_RUNNING},
      {RankPhase::exited, v1::RANK_PHASE_EXITED}}}};

inline constexpr EnumMap<ExitCause, v1::ExitCause, 8> kExitCauses{
    "cause",
    {{{ExitCause::none, v1::EXIT_CAUSE_NONE},
      {ExitCause::program, v1::EXIT_CAUSE_PROGRAM},
      {ExitCause::go_suspend, v1::EXIT_CAUSE_GO_SUSPEND},
      {ExitCause::grace_over, v1::EXIT_CAUSE_GRACE_OVER},
      {ExitCause::killed, v1::EXIT_CAUSE_KILLED},
      {ExitCause::fenced, v1::EXIT_CAUSE_FENCED},
      {ExitCause::launch_failed, v1::EXIT_CAUSE_LAUNCH_FAILED},
      {ExitCause::lost, v1::EXIT_CAUSE_LOST}}}};

inline constexpr EnumMap<LaunchMode, v1::LaunchMode, 2> kLaunchModes{
    "launch",
    {{{LaunchMode::per_node, v1::LAUNCH_MODE_PER_NODE},
      {LaunchMode::per_gpu, v1::LAUNCH_MODE_PER_GPU}}}};

inline constexpr EnumMap<EnvStyle, v1::EnvStyle, 3> kEnvStyles{
    "env_style",
    {{{EnvStyle::hai, v1::ENV_STYLE_HAI},
      {EnvStyle::torch, v1::ENV_STYLE_TORCH},
      {EnvStyle::slurm, v1::ENV_STYLE_SLURM}}}};

}  // namespace hai
