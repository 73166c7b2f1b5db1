// SPDX-License-Identifier: Apache-2.0
// Frames with CM messages. req, rep, rej, sidr_req and sidr_rep are from captures of rping and udaddy;
// the others are built on the same frame from IBTA 12.6, 12.8.
#pragma once

#include <string>
#include <vector>

#include "literal_frame.hpp"

namespace roce::dissect::cm_frames {

inline const std::string ethernet_ip =
    "525400000a01525400000b010800 450001344bc940004011d953 0a4d00020a4d0001 d87212b701200000";
inline const std::string bth_deth = "6400ffff0000000180000083 8001000000000001";

/// A CM message: `attribute` four digits, `body` filled with zeros to its 232 bytes.
inline std::string message(const std::string& attribute, const std::string& body) {
  std::string bare;
  for (const char c : body) {
    if (c != ' ') bare.push_back(c);
  }
  return ethernet_ip + bth_deth + "0107020300000000 0000000256ba8f3d" + attribute + "000000000000" + bare +
         zeros(232 - bare.size() / 2) + "4845dc99";
}

// rping, client to server.
inline const std::string req =
    "525400000b01525400000a010800 4500013427ce40004011fd4e0a4d00010a4d0002 d87212b701200000"
    "6400ffff00000001800000b0 8001000000000001"
    "0107020300000000 0000000256ba8f3d 0010000000000000"
    "3d8fba56 00000000 0000000001061c06 505400fffe000a01 00000000 00000000 0000ef01 00000001 000000a0 "
    "15562ba7"
    "ffff57f0 ffffffff 00000000000000000000ffff0a4d0001 00000000000000000000ffff0a4d0002 37e53000 00400088" +
    zeros(44) + "0040a013 0000000000000000000000000a4d0001 0000000000000000000000000a4d0002" + zeros(56) +
    "28b3b10f";

inline const std::string rep =
    message("0013", "b927b682 3d8fba56 00000000 0000c800 00000000 7dca6b00 010178e0 505400fffe000b01");
// rping to a port without listener.
inline const std::string rej = message("0012", "00000000 328fba56 00000008");
inline const std::string rtu = message("0014", "3d8fba56 b927b682");
inline const std::string dreq = message("0015", "3d8fba56 b927b682 0000c800");
inline const std::string drep = message("0016", "b927b682 3d8fba56");
inline const std::string mra = message("0011", "b927b682 3d8fba56 40 98 cafe");
// udaddy over IPv6 and its refusal; only the MAD is from the capture.
inline const std::string sidr_req =
    message("0017",
            "df8fba56 ffff0000 0000000001111c06 0060994a fd770000000000000000000000000001"
            "fd770000000000000000000000000002");
inline const std::string sidr_rep = message("0018", "df8fba56 02000000 00000000 0000000001111c06");
inline const std::string sidr_rep_accepted =
    message("0018", "df8fba56 00000000 00001a00 0000000001111c06 01234567");
inline const std::string lap =
    message("0019",
            "3d8fba56 b927b682 00000000 0000c8a0 00000000 ffffffff 00000000000000000000ffff0a4d0003"
            "fe80000000000000525400fffe000b01 12345068 40 03 30 90");
inline const std::string apr = message("001a", "b927b682 3d8fba56 00 05 0000");

inline std::vector<std::string> all() {
  return {req, rep, rej, rtu, dreq, drep, mra, sidr_req, sidr_rep, sidr_rep_accepted, lap, apr};
}

}  // namespace roce::dissect::cm_frames
