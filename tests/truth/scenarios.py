# SPDX-License-Identifier: Apache-2.0
"""Generated captures and what is asked of the analysis for each."""

import dataclasses

# Findings that claim loss or retransmission. None of them may come out of an innocent capture.
LOSS_FINDINGS = {"loss_before_capture", "trimmed", "loss_after_capture", "loss_by_capture", "capture_drops", "go_back_n_storm",
                 "read_storm", "livelock", "timeouts", "retries_exhausted", "spurious_retransmission",
                 "slow_recovery", "sick_host", "sick_link", "rnr", "rnr_exhausted", "uc_message_loss"}
DROP_FINDINGS = {"loss_by_capture", "capture_drops"}


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    arguments: tuple = ()
    innocent: bool = False        # no loss, nothing sent again: claims of either are false
    allowed: frozenset = frozenset()  # findings of LOSS_FINDINGS that are right all the same
    share: float = 1.0            # of the packets asked for
    pairing: bool = True          # connections with enough answered requests must be paired
    causes: bool = True           # causes are required to be right, not only printed
    ids: bool = True              # IPv4 IDs tell transmissions apart
    first_answers: bool = False   # the first answer to a repeated READ, called a retransmission, is a false one
    longest_read: int = 5         # PSNs behind the first one of a READ
    strict: bool = True           # False: printed, never failed
    told: tuple = ()              # options of the program: what somebody knows of the network
    today: dict = dataclasses.field(default_factory=dict)  # what is reached where the aim is not

    def command(self, packets):
        return ["--packets", str(int(packets * self.share)), *self.arguments]


def faults(name, *arguments):
    return ("--faults", name, *arguments)


SCENARIOS = [
    # One READ that is answered anew is some twenty packets: too few frames make a lottery of a thousandth.
    Scenario("all0.1", faults("all0.1"), share=3),
    Scenario("all1", faults("all1"), today={"causes": 0.96}),
    Scenario("clean", faults("clean"), innocent=True),
    Scenario("reorder", faults("reorder"), innocent=True),
    Scenario("adaptive_routing", faults("adaptive_routing"), innocent=True, share=0.5),
    Scenario("capture_drop", faults("capture_drop"), innocent=True, allowed=frozenset(DROP_FINDINGS)),
    Scenario("mirror", faults("mirror"), innocent=True),
    Scenario("mirror_interface", faults("mirror_interface", "--format", "pcapng"), innocent=True, share=0.5),
    Scenario("mirror_vlan", faults("mirror_vlan"), innocent=True, share=0.5),
    Scenario("mirror_hop", faults("mirror_hop"), innocent=True, share=0.5),
    Scenario("mirror1", faults("mirror1"), innocent=True, share=0.5),
    # Copies that come later than answers, and where no ID tells.
    Scenario("mirror_late", faults("mirror", "--mirror-delay-ns", "100000"), innocent=True, share=0.5),
    Scenario("mirror_ipv6", faults("mirror", "--ipv6", "--mirror-delay-ns", "5000"), innocent=True, share=0.5,
             ids=False),
    Scenario("mirror_late_ipv6", faults("mirror", "--ipv6", "--mirror-delay-ns", "50000"), innocent=True, share=0.5,
             ids=False),
    Scenario("loss0.1", faults("loss0.1"), share=0.5),
    Scenario("loss1", faults("loss1"), share=0.5,
             today={"causes": 0.99}),
    Scenario("request_loss1", faults("request_loss1"), share=0.5),
    Scenario("response_loss1", faults("response_loss1"), share=0.5),
    Scenario("reorder_nak", faults("reorder_nak"), today={"causes": 0.97}, share=0.5),
    Scenario("selective_repeat", faults("selective_repeat"), today={"causes": 0.985}, share=0.5),
    Scenario("rnr", faults("rnr"), share=0.5),
    Scenario("rnr_silent", faults("rnr", "--nak-after-rnr", "0"), share=0.5),
    Scenario("slow", faults("slow"), share=0.5),
    Scenario("duplicate", faults("duplicate"), share=0.5),
    Scenario("blackout", faults("blackout"), share=0.5),
    # Pairing made hard: 1024 QPs that all begin at PSN 0, ports that say nothing, no beginning.
    Scenario("many_qps", faults("loss0.1", "--qps", "1024", "--hosts", "8", "--first-psn", "zero", "--udp-port",
                                "random", "--stagger-ns", "3000000"), share=3),
    Scenario("zero_psn", faults("all0.1", "--qps", "256", "--hosts", "3", "--first-psn", "zero", "--udp-port",
                                "constant"), share=0.5),
    # All to all: hundreds between two hosts at once, on one port. docs/truth.md has the command for 20 000 queue pairs.
    Scenario("all_to_all", faults("clean", "--qps", "1000", "--hosts", "4", "--first-psn", "zero", "--udp-port",
                                  "constant", "--stagger-ns", "2000000", "--burst", "3", "--idle-ns", "2000000"), innocent=True),
    Scenario("middle", faults("all0.1", "--skip-ns", "600000"), share=0.5),
    Scenario("wrap", faults("loss1", "--first-psn", "wrap"), share=0.5,
             today={"causes": 0.99}),
    Scenario("two_interfaces", faults("loss1", "--format", "pcapng", "--split-interfaces"), share=0.5,
             today={"causes": 0.99}),
    Scenario("managed", faults("loss1", "--cm"), share=0.5),
    Scenario("ipv6", faults("all0.1", "--ipv6"), share=0.5, ids=False,
             today={"precision": 0.998, "causes": 0.99}),
    Scenario("constant_id", faults("all0.1", "--ip-id", "constant"), share=0.5, ids=False,
             today={"precision": 0.998, "causes": 0.99}),
    Scenario("loss1_ipv6", faults("loss1", "--ipv6"), today={"causes": 0.985}, share=0.5, ids=False),
    Scenario("reorder_ipv6", faults("reorder", "--ipv6"), share=0.5, ids=False, innocent=True),
    Scenario("reorder_nak_ipv6", faults("reorder_nak", "--ipv6"), share=0.5, ids=False, strict=False),
    Scenario("adaptive_routing_ipv6", faults("adaptive_routing", "--ipv6"), share=0.5, ids=False, innocent=True),
    Scenario("selective_repeat_ipv6", faults("selective_repeat", "--ipv6"), share=0.5, ids=False, strict=False),
    Scenario("requests_only", faults("loss1", "--captured", "a_to_b", "--both-directions", "0"), share=0.5,
             pairing=False, causes=False, strict=False),
    Scenario("answers_only", faults("loss1", "--captured", "b_to_a", "--both-directions", "0"), share=0.5,
             pairing=False, causes=False, strict=False),
]
# For every build. Where a capture begins in the middle, what its first packets repeat weighs too much in a short one.
QUICK = [scenario.name for scenario in SCENARIOS if scenario.name != "middle"]
