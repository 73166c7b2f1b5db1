-- SPDX-License-Identifier: Apache-2.0
-- Shows in Wireshark and tshark what roceanalyze says of each packet, from a file that
-- `roceanalyze packets CAPTURE --sidecar CAPTURE.roce` wrote; and names opcodes, FECN and BECN that Wireshark 4.0 does
-- not. How to use it, and the format of the file: docs/wireshark.md.

-- Both as a plugin and by -X lua_script: once is enough.
if package.loaded["roceanalyze.lua"] then return end
package.loaded["roceanalyze.lua"] = true

local magic = "roceanalyze sidecar 1"
local longest_line = 65536 -- bytes
local rows_per_block = 64
local not_found = "no sidecar"

-- The fields of `roceanalyze packets --list-fields` that are in sidecars: name, type, label, severity of an expert info.
local fields = {
  {"roce.analysis.ack_unseen", "boolean", "Acknowledges a PSN that was not captured", "note"},
  {"roce.analysis.duplicate_capture", "boolean", "Duplicate made by the capture"},
  {"roce.analysis.duplicate_network", "boolean", "Duplicate made by the network", "note"},
  {"roce.analysis.duplicate_of", "frame", "Duplicate of frame"},
  {"roce.analysis.flags", "presence", "Any analysis flag, gap or loss"},
  {"roce.analysis.gap", "number", "PSNs missing before this one"},
  {"roce.analysis.illegal_sequence", "boolean", "Illegal opcode sequence", "error"},
  {"roce.analysis.in_flight", "number", "PSNs in flight"},
  {"roce.analysis.lost", "text", "Lost", "warning"},
  {"roce.analysis.lost.direction", "text", "Direction of the lost transmissions"},
  {"roce.analysis.lost.packets", "number", "Lost transmissions"},
  {"roce.analysis.lost_between_points", "boolean", "Lost between two capture points", "warning"},
  {"roce.analysis.msn_backwards", "boolean", "Message sequence number goes backwards", "warning"},
  {"roce.analysis.out_of_order", "boolean", "Out of order", "note"},
  {"roce.analysis.request", "frame", "Response to frame"},
  {"roce.analysis.response", "frame", "Response in frame"},
  {"roce.analysis.response_time", "time", "Response time"},
  {"roce.analysis.retransmission", "boolean", "Retransmission", "note"},
  {"roce.analysis.retransmission.cause", "text", "Cause of the retransmission"},
  {"roce.analysis.retransmission.original", "frame", "Retransmission of frame"},
  {"roce.analysis.rule", "text", "Rule"},
  {"roce.analysis.source_mac_changed", "boolean", "Source MAC address changed", "note"},
  {"roce.analysis.spurious", "boolean", "Spurious: already acknowledged"},
  {"roce.analysis.time_backwards", "boolean", "Timestamp earlier than the packet before it"},
  {"roce.analysis.wrong_length", "boolean", "Wrong length", "error"},
  {"roce.class", "text", "Traffic class: data, ack, response, atomic, cm, cnp or other"},
  {"roce.connection", "number", "Connection"},
  {"roce.credits", "number", "Credits granted"},
  {"roce.direction", "text", "Direction"},
  {"roce.dscp", "number", "DSCP of the innermost network header"},
  {"roce.ecn", "number", "ECN of the innermost network header"},
  {"roce.flow", "number", "Flow"},
  {"roce.icrc.computed", "hex", "ICRC computed by the standard"},
  {"roce.icrc.soft_roce_flush", "boolean", "FLUSH with the ICRC of Linux Soft-RoCE"},
  {"roce.icrc.status", "text", "ICRC status"},
  {"roce.incident", "number", "Incident"},
  {"roce.marking.violation", "text", "Violated rule of the policy", "warning"},
  {"roce.operation", "text", "Operation"},
  {"roce.outer.dscp", "number", "DSCP of the outer header of a tunnel"},
  {"roce.outer.ecn", "number", "ECN of the outer header of a tunnel"},
  {"roce.outer.pcp", "number", "Priority of the outermost VLAN tag around a tunnel"},
  {"roce.payload_length", "number", "Message bytes in this packet, without pad"},
  {"roce.pcp", "number", "Priority of the innermost VLAN tag"},
  {"roce.rnr_timer_ns", "number", "RNR timer (ns)"},
  {"roce.service", "text", "Transport service"},
  {"roce.stop", "text", "Why the dissection ended early"},
  {"roce.syndrome", "text", "AETH syndrome in words"},
  {"roce.trimmed", "boolean", "Trimmed by a switch"},
  {"roce.trimmed.bytes", "number", "Bytes cut off by a switch"},
  {"roce.trimmed.was", "number", "Length on the wire before it was trimmed"},
  {"roce.tunnel", "text", "Tunnels around the packet"},
  {"roce.upper", "text", "Upper-layer protocol"},
  {"roce.version", "text", "RoCE version"},
  {"roce.vlan", "number", "VLAN of the innermost tag"},
}

local roce = Proto("roce", "RDMA over Converged Ethernet")
roce.prefs.sidecar = Pref.string("Sidecar", "",
  "File of roceanalyze packets --sidecar. Empty: ROCEANALYZE_SIDECAR, else the name of the capture and .roce")

local severities = { note = expert.severity.NOTE, warning = expert.severity.WARN, error = expert.severity.ERROR }

local function whole_number(text)
  local number = text:match("^%d+$") and #text <= 10 and tonumber(text)
  return number and number <= 0xffffffff and number or nil
end

local function seconds(text)
  local sign, whole, part = text:match("^(%-?)(%d+)%.(%d%d%d%d%d%d%d%d%d)$")
  if not whole or #whole > 10 then return nil end
  local factor = sign == "-" and -1 or 1
  return NSTime.new(factor * tonumber(whole), factor * tonumber(part))
end

local function escaped(text)
  return (text:gsub(".", function(char) return string.format("\\x%02x", char:byte()) end))
end

-- Control characters, those of Unicode too, as \xNN: tshark writes texts to the terminal as they are.
local function visible(text)
  return (text:gsub("[\0-\31\127]", escaped):gsub("\194[\128-\159]", escaped))
end

local function plain(text)
  return visible((text:gsub("\\x(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end)))
end

-- How a type is registered, and its values are read; nil of the latter: no such value.
local types = {
  number = { make = function(name, label) return ProtoField.uint32(name, label, base.DEC) end, read = whole_number },
  hex = { make = function(name, label) return ProtoField.uint32(name, label, base.HEX) end, read = whole_number },
  frame = { make = function(name, label) return ProtoField.framenum(name, label) end, read = whole_number },
  boolean = { make = function(name, label) return ProtoField.bool(name, label) end,
    read = function(text) if text == "1" then return true elseif text == "0" then return false end end },
  time = { make = function(name, label) return ProtoField.relative_time(name, label) end, read = seconds },
  text = { make = function(name, label) return ProtoField.string(name, label) end, read = plain },
  presence = { make = function(name, label) return ProtoField.none(name, label) end,
    read = function(text) return text == "1" or nil end },
}

local field_of_name = {}
local registered = {}
local experts = {}
for _, row in ipairs(fields) do
  local field = { name = row[1], label = row[3], presence = row[2] == "presence", type = types[row[2]] }
  field.proto_field = field.type.make(field.name, field.label)
  registered[#registered + 1] = field.proto_field
  if row[4] then
    field.expert = ProtoExpert.new(field.name .. ".expert", field.label, expert.group.SEQUENCE, severities[row[4]])
    experts[#experts + 1] = field.expert
  end
  field_of_name[field.name] = field
end
field_of_name["roce"] = { name = "roce", is_protocol = true, type = types.presence }
local refused = ProtoExpert.new("roce.sidecar.expert", "Sidecar not used", expert.group.UNDECODED, expert.severity.WARN)
experts[#experts + 1] = refused

-- Versions of Wireshark that have these fields themselves keep theirs.
local function field_unless_there(name, label, mask)
  if pcall(Field.new, name) then return nil end
  local made = ProtoField.bool(name, label, 8, nil, mask)
  registered[#registered + 1] = made
  return made
end
local fecn = field_unless_there("infiniband.bth.fecn", "FECN", 0x80)
local becn = field_unless_there("infiniband.bth.becn", "BECN", 0x40)

roce.fields = registered
roce.experts = experts

local bth_of = Field.new("infiniband.bth")

-- Operations of reliable connections, which XRC has with the same numbers.
local operations = {
  [0x00] = "SEND First", [0x01] = "SEND Middle", [0x02] = "SEND Last", [0x03] = "SEND Last with Immediate",
  [0x04] = "SEND Only", [0x05] = "SEND Only with Immediate", [0x06] = "RDMA WRITE First",
  [0x07] = "RDMA WRITE Middle", [0x08] = "RDMA WRITE Last", [0x09] = "RDMA WRITE Last with Immediate",
  [0x0a] = "RDMA WRITE Only", [0x0b] = "RDMA WRITE Only with Immediate", [0x0c] = "RDMA READ Request",
  [0x0d] = "RDMA READ Response First", [0x0e] = "RDMA READ Response Middle", [0x0f] = "RDMA READ Response Last",
  [0x10] = "RDMA READ Response Only", [0x11] = "Acknowledge", [0x12] = "ATOMIC Acknowledge", [0x13] = "CmpSwap",
  [0x14] = "FetchAdd", [0x16] = "SEND Last with Invalidate", [0x17] = "SEND Only with Invalidate", [0x1c] = "FLUSH",
  [0x1d] = "ATOMIC WRITE",
}

-- The name of an opcode that Wireshark 4.0 calls unknown; nil where it has one or there is none.
local function missing_name(opcode)
  if opcode == 0x81 then return "CNP" end
  if opcode == 0x1c or opcode == 0x1d then return "RC " .. operations[opcode] end
  if opcode >= 0xa0 and opcode <= 0xbf and operations[opcode - 0xa0] then
    return "XRC " .. operations[opcode - 0xa0]
  end
end

-- The sidecar of the capture that is open: nil before its first packet, then {failure = TEXT} or what open() returns.
local sidecar

local function close()
  if sidecar and sidecar.file then sidecar.file:close() end
  sidecar = nil
end

-- Where rows begin, and whether the file is whole. Raises an error with the reason if it is not.
local function scan(file)
  local offsets, rows, at, rest, head, last = {}, 0, 0, "", {}, nil
  while true do
    local piece = file:read(longest_line)
    if not piece then break end
    local data, start = rest .. piece, 1
    while true do
      local finish = data:find("\n", start, true)
      if not finish then break end
      if last then error("has text behind its end", 0) end
      if #head < 2 then
        head[#head + 1] = data:sub(start, finish - 1)
        if head[1] ~= magic then error("is no sidecar, or one of another version", 0) end
      elseif data:byte(start) == 0x65 then -- "end"
        last = data:sub(start, finish - 1)
        offsets[#offsets + 1] = at + start - 1
      else
        if rows % rows_per_block == 0 then offsets[#offsets + 1] = at + start - 1 end
        rows = rows + 1
      end
      start = finish + 1
    end
    at = at + start - 1
    rest = data:sub(start)
    if #rest > longest_line then error("has a line that is too long", 0) end
  end
  local count, whole = (last or ""):match("^end\t(%d+)\t(%l+)$")
  if not count or rest ~= "" then error("is cut short", 0) end
  if tonumber(count) ~= rows or (whole ~= "whole" and whole ~= "partial") then error("is damaged at its end", 0) end
  return offsets, rows, whole == "whole", head[2]
end

local function open(path)
  local file = io.open(path, "rb")
  if not file then return { failure = "cannot be read" } end
  local good, offsets, rows, whole, names = pcall(scan, file)
  if not good then
    file:close()
    return { failure = tostring(offsets) }
  end
  local columns = {}
  for name in names:gmatch("[^\t]+") do columns[#columns + 1] = field_of_name[name] or false end
  return { file = file, offsets = offsets, rows = rows, whole = whole, columns = columns }
end

-- Files that this process has open are known on Linux only.
local function beside_open_files()
  local stat = io.open("/proc/self/stat", "r")
  local process = stat and (stat:read(32) or ""):match("^%d+")
  if stat then stat:close() end
  if not process then return nil end
  local list = io.popen("readlink /proc/" .. process .. "/fd/* 2>/dev/null", "r")
  if not list then return nil end
  local found
  for name in list:lines() do
    local path = name .. ".roce"
    local file = not found and name:sub(1, 1) == "/" and io.open(path, "rb")
    if file then
      file:close()
      found = path
    end
  end
  list:close()
  return found
end

local function find()
  local path = roce.prefs.sidecar
  if not path or path == "" then path = os.getenv("ROCEANALYZE_SIDECAR") end
  if not path or path == "" then
    local good, found = pcall(beside_open_files)
    path = good and found or nil
  end
  if not path then return { failure = not_found } end
  local made = open(path)
  made.path = path
  return made
end

local function row_of(number)
  local block = math.floor((number - 1) / rows_per_block) + 1
  if sidecar.block ~= block then
    local from, to = sidecar.offsets[block], sidecar.offsets[block + 1]
    sidecar.file:seek("set", from)
    local text = sidecar.file:read(to - from) or ""
    sidecar.lines = {}
    for line in text:gmatch("([^\n]*)\n") do sidecar.lines[#sidecar.lines + 1] = line end
    sidecar.block = block
  end
  return sidecar.lines[(number - 1) % rows_per_block + 1]
end

-- What the row of a packet says of it, as a list of {field, value, text}. Raises an error with the reason if it is of
-- another packet or not understood.
local function read_row(tvb, pinfo)
  if pinfo.number > sidecar.rows then
    if not sidecar.whole then return nil end
    error("is of another capture: this one has more packets than " .. sidecar.rows, 0)
  end
  local row = row_of(pinfo.number) or ""
  local number, time, length, tail, rest = row:match("^(%d+)\t([%d.-]+)\t(%d+)\t(%x*)(.*)$")
  local at = time and tonumber(time)
  if not number or (time ~= "-" and not at) or (rest ~= "" and rest:byte(1) ~= 9) then
    error("is damaged in the row of packet " .. pinfo.number, 0)
  end
  local bytes = math.min(tvb:len(), 4)
  local last = bytes == 0 and "" or tvb(tvb:len() - bytes, bytes):bytes():tohex(true)
  if tonumber(number) ~= pinfo.number or tonumber(length) ~= pinfo.len or tail ~= last or
    (at and not (math.abs(at - pinfo.abs_ts) < 1e-6)) then
    error("is of another capture: packet " .. pinfo.number .. " differs", 0)
  end
  local values = {}
  for cell in rest:gmatch("\t([^\t]*)") do
    local column, text = cell:match("^(%d+)=(.*)$")
    local field = column and sidecar.columns[tonumber(column)]
    local value = field and field.type.read(text)
    if field == nil or (field and value == nil) then error("is damaged in the row of packet " .. number, 0) end
    if field then values[#values + 1] = { field, value, text } end
  end
  return values
end

-- "Lost: before_capture, 2 packets ..." is put together from the fields whose names go on from that of the expert info.
local function expert_text(of, values)
  local parts = { of.label }
  for _, each in ipairs(values) do
    local field, text = each[1], each[3]
    if field.name == of.name and field.type == types.text then parts[#parts + 1] = plain(text) end
    if field.name:sub(1, #of.name + 1) == of.name .. "." then
      parts[#parts + 1] = field.label:lower() .. " " .. plain(text)
    end
  end
  return #parts == 1 and parts[1] or parts[1] .. ": " .. table.concat(parts, ", ", 2)
end

local function show(item, values)
  local told = {}
  for _, each in ipairs(values) do
    local field, value = each[1], each[2]
    if not field.is_protocol then
      local line = field.presence and item:add(field.proto_field) or item:add(field.proto_field, value)
      line:set_generated()
      if field.expert and not told[field] then
        told[field] = true
        line:add_proto_expert_info(field.expert, expert_text(field, values))
      end
    end
  end
end

local function name_opcodes(item, headers, pinfo)
  for _, header in ipairs(headers) do
    local range = header.range
    if range:len() >= 5 then
      local opcode = range(0, 1):uint()
      local name = missing_name(opcode)
      if name then
        item:add(range(0, 1), string.format("Opcode: %s (0x%02x)", name, opcode)):set_generated()
        local info = #headers == 1 and tostring(pinfo.cols.info) or ""
        local before, behind = info:match("^(.-)Unknown OpCode%s*(.*)$")
        if before then pinfo.cols.info = before .. name .. " " .. behind end
      elseif opcode == 0x80 then
        item:add(range(0, 1), "Opcode: not assigned (0x80); CNP is 0x81"):set_generated()
      end
      if fecn then item:add(fecn, range(4, 1)) end
      if becn then item:add(becn, range(4, 1)) end
    end
  end
end

function roce.init()
  close()
end

function roce.dissector(tvb, pinfo, tree)
  local headers = { bth_of() }
  if not sidecar then sidecar = find() end
  local values
  if sidecar.file then
    local good, result = pcall(read_row, tvb, pinfo)
    if good then
      values = result
    else
      sidecar.file:close()
      sidecar = { failure = tostring(result), path = sidecar.path, packet = pinfo.number }
    end
  end
  local failure = sidecar.failure ~= not_found and sidecar.failure
  if not failure and #headers == 0 and (not values or #values == 0) then return end
  local is_roce = false
  for _, each in ipairs(values or {}) do is_roce = is_roce or each[1].is_protocol end
  local item = is_roce and tree:add(roce, tvb()) or tree:add(tvb(), "RoCE")
  item:set_text("RoCE analysis")
  item:set_generated()
  if failure then
    local text = "Verdicts are not shown: " .. visible(sidecar.path) .. " " .. failure
    local line = item:add(tvb(), text)
    line:set_generated()
    sidecar.packet = sidecar.packet or pinfo.number
    if sidecar.packet == pinfo.number then line:add_proto_expert_info(refused, text) end
  end
  if #headers ~= 0 then pcall(name_opcodes, item, headers, pinfo) end
  if values then show(item, values) end
end

register_postdissector(roce, true)
