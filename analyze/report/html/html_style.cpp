// SPDX-License-Identifier: Apache-2.0
// The style sheet. Colours are those of Okabe and Ito, as in the window, and never the only distinction.
#include "analyze/report/html/html_parts.hpp"

namespace roce::analyze::html {

std::string_view style_sheet() noexcept {
  return R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1a1c1e; --quiet: #5f656c; --line: #d5d9de; --box: #f3f5f7;
  --link: #005a9c; --error: #c24a00; --warning: #8a5a00; --notice: #0072b2; --info: #5f656c; --good: #00734f;
  --throughput: #0072b2; --goodput: #009e73; --retransmitted: #d55e00; --lost: #1a1c1e; --ce: #e69f00; --cnp: #cc79a7; }
@media (prefers-color-scheme: dark) {
  :root { --back: #1b1e21; --text: #e6e6e6; --quiet: #a0a6ad; --line: #41464c; --box: #25282c;
    --link: #6cc0f0; --error: #f07a1e; --warning: #f0e442; --notice: #56b4e9; --info: #a0a6ad; --good: #1fc494;
    --throughput: #56b4e9; --goodput: #1fc494; --retransmitted: #f07a1e; --lost: #ffffff; --ce: #f0e442; --cnp: #e092be; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 90rem; background: var(--back); color: var(--text);
  overflow-wrap: anywhere; font: 15px/1.45 system-ui, "Segoe UI", Cantarell, "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 1.8rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0; }
h4 { font-size: .9rem; margin: .7rem 0 .1rem; color: var(--quiet); font-weight: 600; }
p { margin: .2rem 0; }
a { color: var(--link); }
nav a { margin-right: 1rem; }
.quiet { color: var(--quiet); }
.verdict { font-size: 1.15rem; font-weight: 600; margin: .4rem 0 .8rem; }
.worst { font-size: 1.7rem; line-height: 1.25; color: var(--kind); } .worst + h1 { font-size: 1.15rem; font-weight: 600; }
.error { --kind: var(--error); } .warning { --kind: var(--warning); } .notice { --kind: var(--notice); }
.info { --kind: var(--info); } .good { --kind: var(--good); }
.severity { color: var(--kind); font-weight: 700; text-transform: uppercase; font-size: .8em; letter-spacing: .04em; }
article { border: 1px solid var(--line); border-left: .35rem solid var(--kind); border-radius: .3rem; padding: .7rem .9rem;
  margin: .8rem 0; break-inside: avoid; }
summary { cursor: pointer; } summary > * { display: inline; margin-right: .5rem; }
details > div { scroll-margin-top: 4rem; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .25rem; padding: .45rem .6rem; margin: .3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font: .85rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
.table { max-width: 100%; overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .55rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
.facts th { font-weight: 400; } .facts td { overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; }
tr.error > :first-child, tr.warning > :first-child, tr.notice > :first-child { border-left: .25rem solid var(--kind); }
svg { display: block; width: 100%; height: auto; max-width: 76rem; }
svg text { fill: var(--text); font-size: 12px; font-family: inherit; }
svg .axis { stroke: var(--quiet); stroke-width: 1; fill: none; } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .quiet { fill: var(--quiet); } svg path { fill: none; stroke-width: 1.6; stroke: var(--of); }
svg .area { fill: var(--of); fill-opacity: .18; }
svg .throughput { --of: var(--throughput); } svg .goodput { --of: var(--goodput); }
svg .retransmitted { --of: var(--retransmitted); } svg .lost { --of: var(--lost); stroke-dasharray: 2 3; }
svg .ce { --of: var(--ce); } svg .cnp { --of: var(--cnp); stroke-dasharray: 7 3; }
@media print {
  :root { color-scheme: light; --back: #ffffff; --text: #000000; --quiet: #444444; --line: #bbbbbb; --box: #f3f5f7;
    --link: #000000; --error: #c24a00; --warning: #8a5a00; --notice: #0072b2; --info: #5f656c; --good: #00734f;
    --throughput: #0072b2; --goodput: #009e73; --retransmitted: #d55e00; --lost: #000000; --ce: #e69f00; --cnp: #cc79a7; }
  body { padding: 0; font-size: 10pt; max-width: none; }
  nav { display: none; } .table { overflow: visible; } table { font-size: 7.5pt; } th, td { padding: .12rem .3rem; }
  th { white-space: normal; } thead { display: table-header-group; } tr, svg { break-inside: avoid; }
  .later { display: none; } }
@page { margin: 14mm; }
)";
}

}  // namespace roce::analyze::html
