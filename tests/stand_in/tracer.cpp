#include "stand_in/tracer.h"

#include <cupti.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/options.h"
#include "stand_in/symbols.h"

struct CUpti_Subscriber_st {};

namespace trainscope::stand_in {
namespace {

// What the client has asked for, and the buffer that is being filled.
struct Client {
  std::mutex mutex;
  bool is_subscribed = false;
  std::set<CUpti_ActivityKind> enabled;
  std::set<CUpti_CallbackId> silent;  // calls of the runtime that are not recorded
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  int sessions = 0;  // from nothing to something that is enabled
  long kernels = 0;
  std::set<std::string> names;  // records point into it
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t dropped = 0;
};

Client& client() {
  static Client& one = *new Client;
  return one;
}

// The faults that CUPTI's release notes name as resolved, "Updates in CUDA ...".
bool is_before(unsigned version) {
  const unsigned own = options().cupti;
  return (own == 0 ? CUPTI_API_VERSION : own) < version;
}
// 13.0 Update 1.
void may_hang(const char* call) {
  if (is_before(130001)) breaks(cudaErrorUnknown, std::string(call) + " can hang or crash here");
}
// 13.1 Update 1; held.
bool names_wrong_launches(const Client& of) {
  return is_before(130101) && of.sessions > 1;
}
// 13.1; held.
bool loses_times(const Client& of) {
  return is_before(130100) && of.clock;
}

// What CUPTI's own clock shows: one that was set otherwise and goes faster, as REALTIME may where
// NTP corrects it.
std::uint64_t own_time(Nanos host) {
  constexpr Nanos kSince1970 = 1'700'000'000'000'000'000;
  constexpr Nanos kFaster = 20'000;  // 50 ppm
  return static_cast<std::uint64_t>(kSince1970 + host + host / kFaster);
}
std::uint64_t time_of(const Client& of, Nanos host) {
  return of.clock ? static_cast<std::uint64_t>(host) : own_time(host);
}

std::atomic<std::uint32_t> calls = 0;
using Ids = std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>>;
Ids& external_ids() {
  thread_local Ids ids;
  return ids;
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return sizeof(CUpti_ActivityAPI);
  }
}

void hand_over(Client& to) {
  if (!to.buffer) return;
  to.complete(nullptr, 0, to.buffer, to.size, to.used);
  to.buffer = nullptr;
}

// Held. A kind that is not enabled is not kept.
template <typename Record>
void add(Client& to, const Record& record) {
  if (!to.enabled.contains(record.kind) || !to.complete) return;
  static_assert(sizeof(Record) % ACTIVITY_RECORD_ALIGNMENT == 0);
  if (to.buffer && to.used + sizeof(Record) > to.size) hand_over(to);
  if (!to.buffer) {
    std::size_t most = 0;
    to.request(&to.buffer, &to.size, &most);
    to.used = 0;
  }
  if (!to.buffer) {
    ++to.dropped;
    return;
  }
  std::memcpy(to.buffer + to.used, &record, sizeof(Record));
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && to.kernels == options().cut_at)
    reinterpret_cast<CUpti_Activity*>(to.buffer + to.used)->kind = CUPTI_ACTIVITY_KIND_INVALID;
  to.used += sizeof(Record);
}

template <typename Record>
Record of_op(CUpti_ActivityKind kind, const Op& op, const Client& to) {
  Record record{};
  record.kind = kind;
  record.start = time_of(to, op.begun);
  record.end = time_of(to, op.ended);
  record.correlationId = op.correlation;
  record.graphId = op.work.graph;
  record.graphNodeId = op.work.node;
  if (op.work.graph != 0 && names_wrong_launches(to)) ++record.correlationId;
  record.deviceId = static_cast<std::uint32_t>(op.gpu);
  return record;
}

CUpti_ActivityKernel10 kernel_of(const Op& op, Client& to) {
  auto record = of_op<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, op, to);
  constexpr long kEvery = 3;
  if (++to.kernels % kEvery == 0 && loses_times(to)) record.start = record.end = 0;
  record.name = to.names.insert(op.work.name).first->c_str();
  record.gridX = static_cast<std::int32_t>(op.work.blocks[0]);
  record.gridY = static_cast<std::int32_t>(op.work.blocks[1]);
  record.gridZ = static_cast<std::int32_t>(op.work.blocks[2]);
  record.blockX = static_cast<std::int32_t>(op.work.threads[0]);
  record.blockY = static_cast<std::int32_t>(op.work.threads[1]);
  record.blockZ = static_cast<std::int32_t>(op.work.threads[2]);
  record.dynamicSharedMemory = static_cast<std::int32_t>(op.work.shared_bytes);
  record.registersPerThread = 32;
  return record;
}

// From one GPU to another: of another kind.
template <typename Record>
Record copy_of(CUpti_ActivityKind kind, const Op& op, const Client& to) {
  auto record = of_op<Record>(kind, op, to);
  record.bytes = op.work.bytes;
  record.srcKind = static_cast<std::uint8_t>(op.work.from);
  record.dstKind = static_cast<std::uint8_t>(op.work.to);
  return record;
}

// Calls that clients switch off alone.
const std::map<std::string_view, CUpti_CallbackId> kLooks{
    {"cudaStreamQuery", CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020},
    {"cudaEventQuery", CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020}};

}  // namespace

void tell_tracer(const Op& op) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  switch (op.work.kind) {
    case WorkKind::kKernel:
      return add(to, kernel_of(op, to));
    case WorkKind::kCopy:
      return add(to, copy_of<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, op, to));
    case WorkKind::kPeerCopy:
      return add(to, copy_of<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, op, to));
    case WorkKind::kFill: {
      auto record = of_op<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, op, to);
      record.bytes = op.work.bytes;
      return add(to, record);
    }
    case WorkKind::kMark:
      return;
  }
}

// The reference of cuptiActivityPushExternalCorrelationId: a record comes with each call whose own
// kind is enabled.
std::uint32_t begin_traced_call(const char* name) {
  const std::uint32_t correlation = ++calls;
  Client& to = client();
  const std::lock_guard held(to.mutex);
  if (!to.enabled.contains(CUPTI_ACTIVITY_KIND_RUNTIME)) return correlation;
  for (const auto& [kind, ids] : external_ids()) {
    if (ids.empty()) continue;
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = kind;
    record.externalId = ids.back();
    record.correlationId = correlation;
    if (std::string_view(name) == "cudaGraphLaunch" && names_wrong_launches(to))
      --record.correlationId;
    add(to, record);
  }
  return correlation;
}

void end_traced_call(const char* name, std::uint32_t correlation, Nanos begun) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  if (const auto call = kLooks.find(name); call != kLooks.end() && to.silent.contains(call->second))
    return;
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.start = time_of(to, begun);
  record.end = time_of(to, host_time());
  record.correlationId = correlation;
  add(to, record);
}

}  // namespace trainscope::stand_in

using trainscope::stand_in::Client;
using trainscope::stand_in::client;

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(std::uint32_t* version) {
  const unsigned told = trainscope::stand_in::options().cupti;
  *version = told == 0 ? CUPTI_API_VERSION : told;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(std::uint64_t* time) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  *time = trainscope::stand_in::time_of(to, trainscope::stand_in::host_time());
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, std::uint32_t* number) {
  *number = graph->number;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec graph, std::uint32_t* number) {
  *number = graph->number;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
  static CUpti_Subscriber_st one;
  Client& to = client();
  const std::lock_guard held(to.mutex);
  if (to.is_subscribed || trainscope::stand_in::options().profiler)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  to.is_subscribed = true;
  *subscriber = &one;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  to.is_subscribed = false;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  if (to.enabled.empty()) ++to.sessions;
  to.enabled.insert(kind);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) to.silent.clear();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, std::uint8_t enable) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  if (enable) {
    to.silent.erase(call);
  } else {
    to.silent.insert(call);
  }
  return CUPTI_SUCCESS;
}

// No call of the driver is recorded.
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) {
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  trainscope::stand_in::may_hang("cuptiActivityDisable");
  Client& to = client();
  const std::lock_guard held(to.mutex);
  to.enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  to.request = request;
  to.complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  to.clock = clock;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(std::uint32_t) {
  trainscope::stand_in::may_hang("cuptiActivityFlushAll");
  Client& to = client();
  const std::lock_guard held(to.mutex);
  hand_over(to);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                                CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record) {
    next = reinterpret_cast<std::uint8_t*>(*record);
    next += trainscope::stand_in::size_of((*record)->kind);
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (reinterpret_cast<CUpti_Activity*>(next)->kind == CUPTI_ACTIVITY_KIND_INVALID)
    return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t,
                                                       std::size_t* dropped) {
  Client& to = client();
  const std::lock_guard held(to.mutex);
  *dropped = to.dropped;
  to.dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                            std::uint64_t id) {
  trainscope::stand_in::external_ids()[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                           std::uint64_t* last) {
  auto& ids = trainscope::stand_in::external_ids()[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  *last = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}

}  // extern "C"

trainscope::stand_in::Symbols trainscope::stand_in::cupti_symbols() {
  return {TRAINSCOPE_SYMBOL(cuptiGetVersion),
          TRAINSCOPE_SYMBOL(cuptiGetTimestamp),
          TRAINSCOPE_SYMBOL(cuptiGetGraphId),
          TRAINSCOPE_SYMBOL(cuptiGetGraphExecId),
          TRAINSCOPE_SYMBOL(cuptiSubscribe),
          TRAINSCOPE_SYMBOL(cuptiUnsubscribe),
          TRAINSCOPE_SYMBOL(cuptiActivityEnable),
          TRAINSCOPE_SYMBOL(cuptiActivityDisable),
          TRAINSCOPE_SYMBOL(cuptiActivityEnableRuntimeApi),
          TRAINSCOPE_SYMBOL(cuptiActivityEnableDriverApi),
          TRAINSCOPE_SYMBOL(cuptiActivityRegisterCallbacks),
          TRAINSCOPE_SYMBOL(cuptiActivityRegisterTimestampCallback),
          TRAINSCOPE_SYMBOL(cuptiActivityFlushAll),
          TRAINSCOPE_SYMBOL(cuptiActivityGetNextRecord),
          TRAINSCOPE_SYMBOL(cuptiActivityGetNumDroppedRecords),
          TRAINSCOPE_SYMBOL(cuptiActivityPushExternalCorrelationId),
          TRAINSCOPE_SYMBOL(cuptiActivityPopExternalCorrelationId)};
}
