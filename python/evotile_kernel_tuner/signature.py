"""What a CUDA source says of a kernel's parameters: their names, and which of them the kernel may write.

    read_signature("vector_add", source)  # [Parameter("c", True, True), Parameter("a", True, False), ..., Parameter("n", False, False)]

A pointer to const is not written. Another pointer is taken as read alone only where each use is an element that nothing is
assigned to: `a[i]`, neither `a[i] = x` nor `&a[i]` nor `f(a)`. evotile checks that inputs keep their values, so that a
mistake here is found and not believed.
"""
import collections
import re

Parameter = collections.namedtuple("Parameter", "name pointer written")

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|<<=|>>=|[-+*/%&|^<>=!]=|\+\+|--|&&|\|\||->|::|\S")
CLOSING = {"(": ")", "[": "]", "{": "}"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}


def end_of(tokens, start):
    """The index behind the bracket that closes tokens[start]; None if nothing does."""
    opening, depth = tokens[start], 0
    for i in range(start, len(tokens)):
        depth += (tokens[i] == opening) - (tokens[i] == CLOSING[opening])
        if depth == 0:
            return i + 1
    return None


def find_kernel(name, tokens):
    """(tokens of the parameters, tokens of the body) of the definition; None if there is none, or several that differ."""
    found = []
    for i, token in enumerate(tokens[:-1]):
        if token != name or tokens[i + 1] != "(":
            continue
        end = end_of(tokens, i + 1)
        if end is not None and end < len(tokens) and tokens[end] == "{":
            close = end_of(tokens, end)
            if close is not None:
                found.append((tokens[i + 2:end - 1], tokens[end:close]))
    return found[0] if len(found) == 1 else None


def split_parameters(tokens):
    """At commas that are in no bracket, also none of a template's arguments."""
    parameters, depth = [[]], 0
    for token in tokens:
        depth += (token in ("(", "[", "<")) - (token in (")", "]", ">"))
        if token == "," and depth == 0:
            parameters.append([])
        else:
            parameters[-1].append(token)
    return [p for p in parameters if p]


def may_write(name, body):
    """Whether the body has a use of the pointer that is not an element that is read."""
    for i, token in enumerate(body):
        if token != name or (i > 0 and body[i - 1] in (".", "->")):
            continue
        if body[i + 1] != "[" or body[i - 1] in ("&", "++", "--"):
            return True
        end = end_of(body, i + 1)
        while end is not None and (body[end] == "[" or body[end] in (".", "->")):
            end = end_of(body, end) if body[end] == "[" else end + 2
        if end is None or body[end] in ASSIGNMENTS:
            return True
    return False


def read_signature(name, source):
    """The parameters of a kernel, or None where the text does not show them."""
    tokens = TOKEN.findall(COMMENT.sub(" ", source))
    found = find_kernel(name, tokens)
    if found is None or "#" in found[0]:
        return None
    parameters = []
    for words in split_parameters(found[0]):
        names = [w for w in words if re.match(r"[A-Za-z_]", w)]
        if not names:
            return None
        pointer = "*" in words or words[-1] == "]"
        # `const T *p` and `T const *p`, but not `T *const p`: the last pointer's target is const.
        constant = pointer and "*" in words and "const" in words[:len(words) - 1 - words[::-1].index("*")]
        parameters.append(Parameter(names[-1], pointer, pointer and not constant and may_write(names[-1], found[1])))
    return parameters
