// SPDX-License-Identifier: Apache-2.0
// Built-in policies after vendors' configuration guides. Each can be used as a template for a file.
#include <algorithm>

#include "analyze/policy/marking_policy.hpp"

namespace roce::analyze {
namespace {

constexpr PolicyProfile profiles[] = {
    {"nvidia", "NVIDIA Cumulus and Onyx \"RoCE\": DSCP 26 on priority 3, CNP DSCP 48 on priority 6",
     R"toml(# NVIDIA Cumulus Linux and Onyx with RoCE enabled, ConnectX configured by its guides.
# Trust is L3: the DSCP determines the priority. PCP is validated on tagged packets.
name = "nvidia"
description = "NVIDIA Cumulus and Onyx RoCE: DSCP 26 on priority 3, CNP DSCP 48 on priority 6"
trust = "dscp"
lossless = 3

[dscp_to_priority]
26 = 3
48 = 6

# SEND, WRITE, READ requests; READ responses carry data too. CE is allowed: congested switches set it.
[class.data]
dscp = 26
ecn = ["ect0", "ect1", "ce"]
pcp = 3
lossless = true

[class.response]
dscp = 26
ecn = ["ect0", "ect1", "ce"]
pcp = 3
lossless = true

# ACKs and atomics may be ECN-capable or not, but a CE mark on them would have no effect.
[class.ack]
dscp = 26
ecn = ["not_ect", "ect0", "ect1"]
pcp = 3

[class.atomic]
dscp = 26
pcp = 3

[class.cnp]
dscp = 48
ecn = ["not_ect", "ect0", "ect1"]
pcp = 6
)toml"},
    {"broadcom-thor2", "Broadcom Thor 2: DSCP 26 on priority 3, CNP DSCP 48 on priority 7",
     R"toml(# Broadcom Thor 2 (BCM576xx) configured by its RoCE guide.
name = "broadcom-thor2"
description = "Broadcom Thor 2: DSCP 26 on priority 3, CNP DSCP 48 on priority 7"
trust = "dscp"
lossless = 3

[dscp_to_priority]
26 = 3
48 = 7

[class.data]
dscp = 26
pcp = 3
lossless = true
# Congestion control needs: ecn = ["ect0", "ect1", "ce"]

[class.ack]
dscp = 26
pcp = 3

[class.atomic]
dscp = 26
pcp = 3

[class.cnp]
dscp = 48
pcp = 7
)toml"},
    {"cisco-nxos", "Cisco NX-OS: DSCP 24 or 26 in the no-drop class CoS 3, CNP DSCP 48",
     R"toml(# Cisco Nexus by its RoCE guide: no-drop class for CoS 3. The guide has DSCP 24; many NICs use 26.
# Use the one that your class map matches.
name = "cisco-nxos"
description = "Cisco NX-OS: DSCP 24 (26 is common) in the no-drop class CoS 3, CNP DSCP 48"
trust = "dscp"
lossless = 3

[dscp_to_priority]
24 = 3
26 = 3

[class.data]
dscp = [24, 26]
pcp = 3
lossless = true
# Congestion control needs: ecn = ["ect0", "ect1", "ce"]

[class.ack]
dscp = [24, 26]
pcp = 3

[class.atomic]
dscp = [24, 26]
pcp = 3

[class.cnp]
dscp = 48
)toml"},
    {"arista", "Arista EOS: DSCP 24 (CS3) or 26 in traffic class 3, CNP in a class of its own",
     R"toml(# Arista EOS: CS3 = DSCP 24 goes to traffic class 3; 26 is common. The PFC watchdog is on.
name = "arista"
description = "Arista EOS: DSCP 24 (CS3; 26 is common) in traffic class 3, CNP in a class of its own"
trust = "dscp"
lossless = 3

[dscp_to_priority]
24 = 3
26 = 3

[class.data]
dscp = ["cs3", 26]
pcp = 3
lossless = true
# Congestion control needs: ecn = ["ect0", "ect1", "ce"]

[class.ack]
dscp = ["cs3", 26]
pcp = 3

[class.atomic]
dscp = ["cs3", 26]
pcp = 3

# Not in the queue of the data that CNPs are to slow down.
[class.cnp]
priority = ["0-2", "4-7"]
lossless = false
)toml"},
    {"sonic", "SONiC default: lossless priorities 3 and 4 by DSCP 3 and 4, ACK queue 6, CNP queue 5",
     R"toml(# SONiC with its default buffer and QoS templates: DSCP 3 and 4 are lossless.
# The default map assigns DSCP 46 and 48 to queues 5 and 6.
name = "sonic"
description = "SONiC default: DSCP 3 and 4 on the lossless priorities 3 and 4, ACK queue 6, CNP queue 5"
trust = "dscp"
lossless = [3, 4]

[dscp_to_priority]
"0-2" = 1
3 = 3
4 = 4
5 = 2
"6-7" = 1
8 = 0
"9-45" = 1
46 = 5
47 = 1
48 = 6
"49-63" = 1

[class.data]
dscp = [3, 4]
pcp = [3, 4]
lossless = true
# Congestion control needs: ecn = ["ect0", "ect1", "ce"]

[class.atomic]
dscp = [3, 4]
pcp = [3, 4]
lossless = true

[class.ack]
priority = 6

[class.cnp]
priority = 5
)toml"},
    {"gaudi3", "Intel Gaudi 3: data DSCP 24 on priority 2, ACK DSCP 16 on priority 3",
     R"toml(# Intel Gaudi 3: data and acknowledgements in separate queues.
name = "gaudi3"
description = "Intel Gaudi 3: data DSCP 24 on priority 2, ACK DSCP 16 on priority 3"
trust = "dscp"

[dscp_to_priority]
24 = 2
16 = 3

[class.data]
dscp = 24
pcp = 2
priority = 2

[class.ack]
dscp = 16
pcp = 3
priority = 3
)toml"},
    {"huawei-hccl", "Huawei HCCL: traffic class 132, that is DSCP 33",
     R"toml(# Huawei Ascend: HCCL_RDMA_TC is 132 by default, DSCP 33. HCCL_RDMA_SL is the priority (4).
name = "huawei-hccl"
description = "Huawei HCCL: traffic class 132 (DSCP 33)"
trust = "dscp"

[class.data]
dscp = 33

[class.ack]
dscp = 33

[class.atomic]
dscp = 33
)toml"},
    {"ucx", "UCX recipe: traffic class 106, that is DSCP 26 and ECT(0)",
     R"toml(# The UCX recipe: UCX_IB_TRAFFIC_CLASS=106 (DSCP 26, ECT(0)). Congested switches set CE.
name = "ucx"
description = "UCX recipe: traffic class 106 (DSCP 26 and ECT(0))"
trust = "dscp"

[class.data]
dscp = 26
ecn = ["ect0", "ce"]

[class.ack]
dscp = 26

[class.atomic]
dscp = 26
)toml"},
};

}  // namespace

std::span<const PolicyProfile> policy_profiles() noexcept {
  return profiles;
}

const PolicyProfile* find_profile(std::string_view name) noexcept {
  const auto at = std::find_if(std::begin(profiles), std::end(profiles),
                               [&](const PolicyProfile& profile) { return profile.name == name; });
  return at == std::end(profiles) ? nullptr : at;
}

}  // namespace roce::analyze
