# SPDX-License-Identifier: Apache-2.0
"""Names that sources keep to themselves. Unity builds (ROCE_UNITY) compile the sources of a room as one, so what stands in
an anonymous namespace of one is seen by the others: two helpers of one name would be overloads of each other there, and a
helper with the name of a public function would hide it. Reads the layout that clang-format gives."""

import re

SKIPPED = re.compile(r"(template|using namespace|using enum|static_assert|extern|Q_\w+)\b")
ALIAS = re.compile(r"(?:using|namespace) (\w+) = (.*);")
TYPE = re.compile(r"(?:struct|class|enum(?: class)?|union)\s+(?:alignas\(\w+\)\s+)?(\w+)(?: final)?\s*(?:[:{;]|$)")
NAME = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*[({=;]")


def declared(statement):
    """The name that a line at the beginning of a declaration declares, with what an alias stands for; or None."""
    if SKIPPED.match(statement):
        return None
    if statement.startswith(("using ", "namespace ")):
        alias = ALIAS.match(statement)
        return (alias.group(1), alias.group(2)) if alias else None
    plain = re.sub(r"\[\[[^\]]*\]\]", "", statement)
    for _ in range(3):  # template arguments, innermost first
        plain = re.sub(r"<[^<>()]*>", "", plain)
    kind = TYPE.match(plain)
    if kind:
        return kind.group(1), None
    name = NAME.search(plain)
    if not name or name.group(1) == "struct" or f"::{name.group(1)}" in plain.split("(")[0]:
        return None
    return name.group(1), None


def top_level(text, anonymous):
    """(name, alias) of what is declared at the top level: in anonymous namespaces, or outside of them."""
    found, inside = [], False
    for line in text.split("\n"):
        if line == "namespace {":
            inside = True
        elif inside and line.startswith("}  // namespace"):
            inside = False
        elif inside == anonymous and line and line[0] not in " /#}":
            name = declared(line)
            if name:
                found.append(name)
    return found


def compiled_together(cmake, folder):
    """{room: what is compiled with it} of a folder's CMakeLists.txt, where such rooms are written a+b."""
    groups = {}
    for word in re.findall(r"[\w/]+(?:\+[\w/]+)+", cmake):
        for room in word.split("+"):
            groups[f"{folder}/{room}"] = word
    return groups


def clashes(sources, headers, groups=None):
    """`sources` and `headers` are {path: text} of one folder of ours; returns a sentence for each clash."""
    public = {name for text in headers.values() for name, _ in top_level(text, anonymous=False)}
    wrong, known = [], {}
    for path in sorted(sources):
        # Sources that include CLI11 are compiled as one wherever they lie (CMakeLists.txt).
        room = path.rpartition("/")[0]
        room = "CLI11" if "#include <CLI/CLI.hpp>" in sources[path] else (groups or {}).get(room, room)
        own = set()
        for name, alias in top_level(sources[path], anonymous=True):
            if name in own:  # overloads
                continue
            own.add(name)
            if name in public and alias is None:
                wrong.append(f"{path}: {name} hides what a header declares")
            other, other_alias = known.setdefault((room, name), (path, alias))
            if other != path and (alias is None or alias != other_alias):
                wrong.append(f"{path}: {name} stands in {other} too")
    return wrong
