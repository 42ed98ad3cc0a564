#!/usr/bin/env python3
"""Reads a data directory of Mayfly as docs/file-format.md describes it, without any code of Mayfly.

    read_data_directory.py DIRECTORY                   what is in it: version, redo log, records with a name, trees
    read_data_directory.py DIRECTORY DATABASE TABLE    the rows of a table, tab-separated, in the order of their keys

The state is the one that opening the directory gives: the data file as of the last checkpoint, with the changes of the
redo log made again, in memory. No file is changed; no other process may write meanwhile. Only Python's standard library
is needed. Checksums are compared where the package `xxhash` is installed.
"""

import mmap
import os
import re
import struct
import sys

try:
    from xxhash import xxh3_64_intdigest
except ImportError:
    xxh3_64_intdigest = None

SLOT_BYTES, FRAMES = 160 << 10, 320 << 10
KINDS = ["PUT", "REMOVE", "CLEAR", "TREE", "ROW", "REMOVE_ROW", "COUNT"]


def get(form, data, at):
    return struct.unpack_from("<" + form, data, at)


def is_intact(data, at, end):
    """Whether the checksum of bytes, in the first eight of them, is that of the others."""
    return xxh3_64_intdigest is None or get("Q", data, at)[0] == xxh3_64_intdigest(data[at + 8:end])


# The redo log

def headers(log):
    """The headers that are whole, in order: generation, pages of the data file, bytes of the data file."""
    found = []
    for at in (0, SLOT_BYTES):
        _, generation, length = get("QQI", log, at)
        end = at + 20 + length
        if 0 < length <= SLOT_BYTES - 20 and is_intact(log, at, end):
            _, of_trailer, data_bytes = get("QQQ", log, end)
            has_length = of_trailer == generation and is_intact(log, end, end + 24)
            found.append((generation, log[at + 20:end], data_bytes if has_length else None))
    return sorted(found)


def groups(log, generation):
    """The groups of a generation: number, offset, and the entries of its frames."""
    at, last, open_group = FRAMES, None, None
    while generation > 0:
        _, of, number, length, is_last = get("QQQII", log, at)
        end = at + 32 + length
        follows = last is None or (last >> 32 == number >> 32 and last < number)
        if of != generation or end > len(log) or not follows or not is_intact(log, at, end):
            return
        if open_group is None:
            open_group = (number, at, [])
        elif open_group[0] != number:
            return
        open_group[2].append(log[at + 32:end])
        at = end
        if is_last:
            yield open_group
            last, open_group = number, None


def entries(frame):
    """The entries of a frame: kind, key, value."""
    at = 0
    while at < len(frame):
        kind, parts, at = frame[at], [], at + 1
        for _ in range(1 if KINDS[kind].startswith("REMOVE") else 2):
            end = at + 4 + get("I", frame, at)[0]
            parts.append(frame[at + 4:end])
            at = end
        yield KINDS[kind], parts[0], parts[-1]


def logged_row(row, types):
    """The values of a row of the redo log; a type is a code and a scale."""
    codes = types[::2]
    at, values = (len(codes) + 7) // 8, []
    for number, code in enumerate(codes):
        if row[number // 8] >> number % 8 & 1:
            values.append(None)
            continue
        at, length = (at + 4, get("I", row, at)[0]) if code == 6 else (at, {4: 16, 5: 32}.get(code, 8))
        value = row[at:at + length]
        at += length
        values.append(value if code == 6 else get("d", value, 0)[0] if code == 3
                      else int.from_bytes(value, "little", signed=code != 2))
    return tuple(values)


# The data file

def lmdb_records(data):
    """The keys and values of an LMDB file's main database, in order."""
    page_bytes = get("I", data, 40)[0]
    meta = max((16, page_bytes + 16), key=lambda meta: get("Q", data, meta + 128)[0])
    root = get("Q", data, meta + 24 + 48 + 40)[0]

    def walk(page):
        flags, lower = get("HH", data, page + 10)
        for offset in get(f"{(lower - 16) // 2}H", data, page + 16):
            low, high, node_flags, key_bytes = get("HHHH", data, page + offset)
            key = page + offset + 8
            value, length = key + key_bytes, low | high << 16
            if flags & 1:
                yield from walk((length | node_flags << 32) * page_bytes)
                continue
            if node_flags & 1:
                value = get("Q", data, value)[0] * page_bytes + 16
            yield data[key:key + key_bytes], data[value:value + length]

    return walk(root * page_bytes) if root != 2**64 - 1 else iter(())


# Blocks

def strings(block, at, count):
    """Strings, one behind the other."""
    width, at = block[at], at + 1
    if width == 0:
        length = get("I", block, at)[0]
        ends, start = [length * (number + 1) for number in range(count)], at + 4
    else:
        ends, start = get(f"{count}{'H' if width == 2 else 'I'}", block, at), at + width * count
    return [block[start + begin:start + end] for begin, end in zip([0, *ends], ends)]


def column(block, at, rows, physical):
    """The values of a column, and what their encoding is called."""
    has_nulls, at = block[at], at + 1
    bits = int.from_bytes(block[at:at + (rows + 7) // 8], "little") if has_nulls else -1
    at += (rows + 7) // 8 if has_nulls else 0
    kind, shift, at = block[at], 0, at + 1
    if kind == 66:
        shift, kind, at = block[at], block[at + 1], at + 2
    name = f"numbers of {kind} bytes" + (f" without {shift} bits" if shift else "")
    if kind == 8 and physical == "double":
        values = get(f"{rows}d", block, at + 8)
    elif kind <= 8:
        base = get("Q", block, at)[0]
        more = get(f"{rows}{' BH I   Q'[kind]}", block, at + 8) if kind else [0] * rows
        values = [(base + (number << shift)) % 2**64 for number in more]
        if physical != "unsigned":
            values = [word - (word >> 63 << 64) for word in values]
    elif kind in (16, 32):
        words = [block[at + kind * row:at + kind * (row + 1)] for row in range(rows)]
        values = [int.from_bytes(word, "little", signed=True) for word in words]
    elif kind == 64:
        name, values = f"strings with ends of {block[at]} bytes", strings(block, at, rows)
    elif kind == 65:
        count, start = get("II", block, at)
        distinct, code_bytes = strings(block, at + 8, count), 1 if count <= 256 else 2
        codes = get(f"{rows}{' BH'[code_bytes]}", block, start)
        name, values = f"codes of {code_bytes} bytes", [distinct[code] for code in codes]
    else:
        raise ValueError(f"unknown encoding {kind}")
    values = [value if bits >> row & 1 else None for row, value in enumerate(values)]
    return values, name + (", NULLs" if has_nulls else "")


def read_block(block, physical):
    """The keys of a block, and its columns; `physical` says a column's type by its number."""
    rows, columns, form = get("IHH", block, 8)
    if form != 1 or not is_intact(block, 0, len(block)):
        raise ValueError("a block is damaged")
    starts = get(f"{columns + 1}I", block, 16)
    end = starts[0] + 4 + get("I", block, starts[0])[0]
    keys = [block[starts[0] + 4:end] + rest for rest in strings(block, end, rows)]
    return keys, [column(block, start, rows, physical(number)) for number, start in enumerate(starts[1:])]


# Tables

def columns_of(statement):
    """The columns of a CREATE TABLE: physical type, type, what is in its parentheses."""
    line = r"^  `(?:[^`]|``)*` (\w+)(?:\(((?:'(?:[^']|'')*'|[^')])*)\))?( unsigned)?"
    for kind, inside, unsigned in re.findall(line, statement, re.M):
        is_unsigned = unsigned or kind in ("bit", "year", "enum", "set")
        yield "double" if kind in ("float", "double") else "unsigned" if is_unsigned else "signed", kind, inside


def shown(value, kind, inside):
    """A value as SELECT shows it; bytes in hexadecimal."""
    members = [member.replace("''", "'") for member in re.findall("'((?:[^']|'')*)'", inside)]
    if value is None:
        return "NULL"
    if kind in ("date", "datetime", "timestamp", "time"):
        if kind == "time":
            seconds, micros = divmod(abs(value), 1000000)
            text = f"{'-' * (value < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        else:
            text, micros = f"{value >> 46:04}-{value >> 42 & 15:02}-{value >> 37 & 31:02}", value & 0xFFFFF
            text += f" {value >> 32 & 31:02}:{value >> 26 & 63:02}:{value >> 20 & 63:02}" * (kind != "date")
        return text + f".{micros:06}"[:int(inside) + 1] if inside else text
    if kind == "decimal":
        scale = int(inside.split(",")[1])
        text = str(abs(value)).rjust(scale + 1, "0")
        return "-" * (value < 0) + (f"{text[:-scale]}.{text[-scale:]}" if scale else text)
    if kind == "enum":
        return members[value - 1] if value else ""
    if kind == "set":
        return ",".join(member for bit, member in enumerate(members) if value >> bit & 1)
    if isinstance(value, float):
        return f"{value:.6g}" if kind == "float" else repr(value).removesuffix(".0")
    if isinstance(value, int):
        return f"{value:04}" if kind == "year" else str(value)
    if kind.endswith(("binary", "blob")):
        return value.hex().upper()
    text = re.sub("[\x01-\x08]", "", value.decode()) if kind == "json" else value.decode()
    return text.translate({92: r"\\", 0: r"\0", 10: r"\n", 9: r"\t"})


class DataDirectory:
    """The records of a directory, and of each tree the rows that the redo log has changed: none where one is removed."""

    def __init__(self, path):
        log = os.path.join(path, "redo.log")
        with open(log if os.path.exists(log) else os.devnull, "rb") as file:
            # What is behind the end reads as a frame of the generation 0, which has none.
            self.log = file.read() + bytes(FRAMES + 64)
        self.headers = headers(self.log)
        with open(os.path.join(path, "data.mdb"), "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        self.generation = 0
        if self.headers:
            self.generation, pages, _ = self.headers[-1]
            data[:len(pages)] = pages
        self.records, self.changes = dict(lmdb_records(data)), {}
        for _, _, frames in groups(self.log, self.generation):
            for entry in (entry for frame in frames for entry in entries(frame)):
                self.make_again(*entry)

    def make_again(self, kind, key, value):
        if kind == "PUT":
            self.records[key] = value
        elif kind == "REMOVE":
            self.records.pop(key, None)
        elif kind == "CLEAR":
            self.records = {own: kept for own, kept in self.records.items() if not key <= own < value}
            self.changes.pop(key[:4], None)
        elif kind == "TREE":
            self.types, self.rows = value, self.changes.setdefault(key[::-1], {})
        elif kind in ("ROW", "REMOVE_ROW"):
            self.rows[key] = logged_row(value, self.types) if kind == "ROW" else None

    def named(self, prefix):
        return [(key[4:], self.records[key]) for key in sorted(self.records) if key.startswith(bytes(4) + prefix)]

    def blocks(self, tree):
        tree = tree.to_bytes(4, "big")
        is_loading = bytes(4) + b"\0filling" + tree in self.records
        return [] if is_loading else [self.records[key] for key in sorted(self.records) if key[:4] == tree]

    def print_rows(self, database, table):
        record = self.records[bytes(4) + f"table\0{database}\0{table}".encode()].decode()
        facts, statement = record.split("\n\n", 1)
        columns = list(columns_of(statement))
        tree, rows = int(re.search(r"^trees (\d+)", facts, re.M)[1]), {}
        # Behind the columns with a name are those of expressions in keys, which are not shown.
        physical = lambda number: columns[number][0] if number < len(columns) else "unsigned"
        for block in self.blocks(tree):
            keys, read = read_block(block, physical)
            rows.update(zip(keys, zip(*(values for values, _ in read))))
        rows.update(self.changes.get(tree.to_bytes(4, "big"), {}))
        for row in (rows[key] for key in sorted(rows) if rows[key] is not None):
            print("\t".join(shown(value, kind, inside) for value, (_, kind, inside) in zip(row, columns)))

    def print_overview(self):
        for generation, pages, data_bytes in self.headers:
            print(f"redo.log: header of generation {generation}: {len(pages)} bytes of pages, data file of {data_bytes}")
        for number, at, frames in groups(self.log, self.generation):
            kinds = [kind for frame in frames for kind, _, _ in entries(frame)]
            counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)
            print(f"redo.log: group {number:#x} at {at}: frames of {[len(frame) for frame in frames]} bytes: {counts}")
        for name, value in self.named(b""):
            is_number = name.startswith((b"\0", b"number\0"))
            print(f"record {name}:", int.from_bytes(value, "little") if is_number else value.decode().replace("\n", "\n    "))
        for tree in sorted({int.from_bytes(key[:4], "big") for key in self.records} - {0}):
            read = [read_block(block, lambda _: "unsigned") for block in self.blocks(tree)]
            changed = len(self.changes.get(tree.to_bytes(4, "big"), {}))
            print(f"tree {tree}: {len(read)} blocks of {sum(len(keys) for keys, _ in read)} rows; {changed} changes in the log")
            names = [(number, name) for _, columns in read for number, (_, name) in enumerate(columns)]
            for number, name in sorted(set(names)):
                print(f"    column {number}: {name} in {names.count((number, name))} blocks")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    directory = DataDirectory(sys.argv[1])
    directory.print_overview() if len(sys.argv) == 2 else directory.print_rows(*sys.argv[2:])
