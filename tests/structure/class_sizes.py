# SPDX-License-Identifier: Apache-2.0
"""Data members of classes: what a class has to keep consistent, and what a reader has to know of it."""

import re

NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#[^\n]*", re.S | re.M)
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:alignas\(\w+\)\s+)?([\w:]+)")
ACCESS = re.compile(r"\b(?:public|protected|private)\s*:(?!:)")
NO_MEMBER = re.compile(r"(?:using|friend|static|typedef|template|enum|static_assert|explicit|virtual|operator)\b")


def members_of(statement):
    """How many data members it declares."""
    plain = re.sub(r"\[\[[^\]]*\]\]|alignas\(\w+\)", "", ACCESS.sub("", statement)).strip()
    while re.search(r"<[^<>]*>", plain):  # template arguments, innermost first
        plain = re.sub(r"<[^<>]*>", "", plain)
    if not plain or NO_MEMBER.match(plain) or "(" in plain.split("=")[0] or not re.search(r"\w[\s&*]+\w", plain):
        return 0
    if CLASS.fullmatch(plain):  # declared only
        return 0
    return 1 + re.sub(r"\([^()]*\)", "", plain).count(",")


def members(text):
    """[(name, data members)] of the classes of a source, those within others first."""
    found, scopes, statement = [], [], ""
    for character in NOISE.sub("", text):
        if character == "{":
            kind = CLASS.search(ACCESS.sub("", statement))
            inside = kind and "(" not in statement[kind.end():] and "enum" not in statement
            scopes.append([kind.group(1) if inside else None, 0, statement])
            statement = ""
        elif character == "}":
            name, count, before = scopes.pop()
            if name is not None:
                found.append((name, count))
            # Behind a class may stand what is declared with it; an initial value belongs to its member.
            value = scopes and scopes[-1][0] is not None and "(" not in before and name is None and "enum" not in before
            statement = before if value else ""
        elif character == ";":
            if scopes and scopes[-1][0] is not None:
                scopes[-1][1] += members_of(statement)
            statement = ""
        else:
            statement += character
    return found
