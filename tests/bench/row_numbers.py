"""Numbers of a bench's rows, from 1 for who reads and from 0 for the program."""
import sys


def chosen_rows(text, bench, names, groups):
    """Numbers from 1 and ranges of them, by commas; groups; parts of names, as "(4,8"; separated by blanks. `groups` has
    the indices of each group's rows."""
    chosen = set()
    for part in text.split():
        if all(piece.replace("-", "", 1).isdigit() for piece in part.split(",")):
            for piece in part.split(","):
                first, _, last = piece.partition("-")
                chosen |= set(range(int(first) - 1, int(last or first)))
        else:
            found = {index for index, name in enumerate(names) if part in name or index in groups.get(part, ())}
            if not found:
                sys.exit(f"{bench}: no row is {part}: give numbers of 1 to {len(names)}, {', '.join(groups)}, "
                         f"or a part of a name such as {names[0][:4]}")
            chosen |= found
    if not chosen or chosen - set(range(len(names))):
        sys.exit(f"{bench}: there are rows 1 to {len(names)}")
    return sorted(chosen)


def ranges(numbers):
    """'1-3,5' of the indices 0, 1, 2, 4."""
    parts = []
    for index in sorted(numbers):
        if parts and parts[-1][1] == index - 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(f"{first + 1}" if first == last else f"{first + 1}-{last + 1}" for first, last in parts)
