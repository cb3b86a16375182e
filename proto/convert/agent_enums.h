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

inline constexpr EnumMap<ExitCause, v1::ExitCause, 9> kExitCauses{
    "cause",
    {{{ExitCause::none, v1::EXIT_CAUSE_NONE},
      {ExitCause::program, v1::EXIT_CAUSE_PROGRAM},
      {ExitCause::go_suspend, v1::EXIT_CAUSE_GO_SUSPEND},
      {ExitCause::grace_over, v1::EXIT_CAUSE_GRACE_OVER},
      {ExitCause::killed, v1::EXIT_CAUSE_KILLED},
      {ExitCause::fenced, v1::EXIT_CAUSE_FENCED},
      {ExitCause::launch_failed, v1::EXIT_CAUSE_LAUNCH_FAILED},
      {ExitCause::lost, v1::EXIT_CAUSE_LOST},
      {ExitCause::left, v1::EXIT_CAUSE_LEFT}}}};

inline constexpr EnumMap<CheckVerdict, v1::CheckVerdict, 4> kCheckVerdicts{
    "verdict",
    {{{CheckVerdict::ok, v1::CHECK_VERDICT_OK},
      {CheckVerdict::warn, v1::CHECK_VERDICT_WARN},
      {CheckVerdict::fail, v1::CHECK_VERDICT_FAIL},
      {CheckVerdict::unknown, v1::CHECK_VERDICT_UNKNOWN}}}};

inline constexpr EnumMap<HealthTier, v1::HealthTier, 5> kHealthTiers{
    "tier",
    {{{HealthTier::log, v1::HEALTH_TIER_LOG},
      {HealthTier::app, v1::HEALTH_TIER_APP},
      {HealthTier::validate, v1::HEALTH_TIER_VALIDATE},
      {HealthTier::drain, v1::HEALTH_TIER_DRAIN},
      {HealthTier::evict, v1::HEALTH_TIER_EVICT}}}};

inline constexpr EnumMap<HangSignKind, v1::HangSignKind, 5> kHangSignKinds{
    "sign",
    {{{HangSignKind::no_progress, v1::HANG_SIGN_KIND_NO_PROGRESS},
      {HangSignKind::silent_log, v1::HANG_SIGN_KIND_SILENT_LOG},
      {HangSignKind::gpu_idle, v1::HANG_SIGN_KIND_GPU_IDLE},
      {HangSignKind::network_quiet, v1::HANG_SIGN_KIND_NETWORK_QUIET},
      {HangSignKind::cpu_idle, v1::HANG_SIGN_KIND_CPU_IDLE}}}};

inline constexpr EnumMap<HookAction, v1::HookAction, 2> kHookActions{
    "hook",
    {{{HookAction::reset_gpus, v1::HOOK_ACTION_RESET_GPUS},
      {HookAction::reboot, v1::HOOK_ACTION_REBOOT}}}};

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
