#include "train/parallel/ddp_buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainscope::train {

BucketCaps bucket_caps(const program::Config& config) {
  constexpr double kMebibyte = 1 << 20;
  BucketCaps caps;
  if (!config.is_set("ddp.bucket_cap_mb")) return caps;
  caps.first = caps.others = std::llround(config.number("ddp.bucket_cap_mb") * kMebibyte);
  return caps;
}

Assignment assign_buckets(const std::vector<std::int64_t>& bytes, const BucketCaps& caps) {
  Assignment buckets;
  std::vector<std::size_t> open;
  std::int64_t size = 0, limit = caps.first;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    open.push_back(place);
    size += bytes[place];
    if (size < limit) continue;
    buckets.push_back(std::move(open));
    open.clear();
    size = 0;
    limit = caps.others;
  }
  if (!open.empty()) buckets.push_back(std::move(open));
  return buckets;
}

Assignment first_assignment(const std::vector<std::int64_t>& bytes, bool find_unused,
                            const BucketCaps& caps) {
  constexpr auto kNoCap = std::numeric_limits<std::int64_t>::max();
  Assignment buckets =
      find_unused ? assign_buckets(bytes, caps) : assign_buckets(bytes, {kNoCap, kNoCap});
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

Assignment rebuilt_assignment(const std::vector<std::int64_t>& bytes,
                              const std::vector<std::size_t>& ready, const BucketCaps& caps) {
  std::vector<std::int64_t> in_order;
  for (const std::size_t parameter : ready) in_order.push_back(bytes[parameter]);
  Assignment buckets = assign_buckets(in_order, caps);
  for (std::vector<std::size_t>& bucket : buckets)
    for (std::size_t& place : bucket) place = ready[place];
  return buckets;
}

}  // namespace trainscope::train
