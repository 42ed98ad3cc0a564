"""A small client of the MySQL protocol: text queries, and prepared statements with parameters of any type and encoding.

A parameter is written `code:value`, with `u` behind the code where it is unsigned: `3:7`, `8u:18446744073709551615`,
`246:0.10`, `252:\\x00\\xff`, `12:2002-03-04 05:06:07.5`, `6:` for NULL.
"""

import math
import re
import socket
import struct

NAMES = {
    0: "decimal", 1: "tinyint", 2: "smallint", 3: "int", 4: "float", 5: "double", 6: "null", 7: "timestamp", 8: "bigint",
    9: "mediumint", 10: "date", 11: "time", 12: "datetime", 13: "year", 14: "date", 15: "varchar", 16: "bit", 245: "json",
    246: "decimal", 247: "enum", 248: "set", 249: "text", 250: "text", 251: "text", 252: "text", 253: "varchar", 254: "char",
    255: "geometry",
}  # fmt: skip
BINARY_NAMES = {"varchar": "varbinary", "char": "binary", "text": "blob"}
UNSIGNED = 32
LOCAL_INFILE = 0xFB


class ServerError(Exception):
    """An error packet."""

    def __init__(self, errno, text):
        super().__init__(f"{errno} {text}")
        self.errno = errno


class Column:
    """A column's description, or a parameter's."""

    def __init__(self, packet):
        names = []
        for _ in range(6):
            name, packet = lenenc_bytes(packet)
            names.append(name)
        self.name = names[4].decode("utf-8", "replace")
        _, self.collation, self.length, self.type, self.flags, self.decimals = struct.unpack("<BHIBHB", packet[:11])

    def type_name(self):
        """The type in one word: what the code, the collation `binary` and the flag UNSIGNED say."""
        name = NAMES.get(self.type, str(self.type))
        if self.collation == 63:
            name = BINARY_NAMES.get(name, name)
        return "u" + name if self.flags & UNSIGNED and name not in ("bit", "year") else name

    def description(self):
        """All but the name."""
        return f"{self.type_name()} {self.length} {self.collation} {self.decimals} {self.flags & 0x7FFF:x}"


class Result:
    """What a statement gave: columns and rows, or nothing but a count; how many warnings."""

    def __init__(self, columns=(), rows=(), warnings=0, changed=0):
        self.columns, self.rows, self.warnings, self.changed = columns, rows, warnings, changed


class Connection:
    """A connection over a Unix socket of a user without a password."""

    def __init__(self, path, user="root"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.buffer = self.socket.makefile("rb", 1 << 16)
        self.infile = b""
        greeting = self.receive()
        self.version = greeting[1 : greeting.index(b"\0")].decode()
        # Long passwords, LOCAL files, protocol 4.1, transactions, secure connection, many results, named plugins.
        capabilities = 0x1 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x20000 | 0x40000 | 0x80000
        login = struct.pack("<IIB23x", capabilities, 1 << 30, 45) + user.encode() + b"\0\0mysql_native_password\0"
        self.send(login, 1)
        while True:
            answer = self.receive()
            if answer[0] == 0xFE:
                self.send(b"", self.sequence + 1)
            elif answer[0] == 0xFF:
                raise error(answer)
            elif answer[0] == 0:
                return

    def receive(self):
        body = b""
        while True:
            head = self.buffer.read(4)
            if len(head) < 4:
                raise ConnectionError("the server has gone")
            length = head[0] | head[1] << 8 | head[2] << 16
            self.sequence = head[3]
            body += self.buffer.read(length)
            if length < 0xFFFFFF:
                return body

    def send(self, body, sequence=0):
        self.socket.sendall(struct.pack("<I", len(body))[:3] + bytes([sequence & 255]) + body)

    def query(self, sql):
        """Runs a text; the last result."""
        self.send(b"\x03" + sql.encode())
        return self.result(text_row)

    def prepare(self, sql):
        """The id of a prepared statement, its parameters and columns."""
        self.send(b"\x16" + sql.encode())
        answer = self.receive()
        if answer[0] == 0xFF:
            raise error(answer)
        statement, columns, parameters = struct.unpack("<xIHH", answer[:9])
        described = []
        for count in (parameters, columns):
            described.append([Column(self.receive()) for _ in range(count)])
            if count:
                self.receive()
        return statement, described[0], described[1]

    def execute(self, statement, parameters):
        """Runs a prepared statement with parameters as the module says."""
        body = b"\x17" + struct.pack("<IBI", statement, 0, 1)
        if parameters:
            nulls = bytearray((len(parameters) + 7) // 8)
            types = values = b""
            for place, parameter in enumerate(parameters):
                code, unsigned, value = read_parameter(parameter)
                types += bytes([code, 0x80 if unsigned else 0])
                if code == 6:
                    nulls[place // 8] |= 1 << place % 8
                else:
                    values += encode(code, value)
            body += bytes(nulls) + b"\x01" + types + values
        self.send(body)
        return self.result(binary_row)

    def close(self, statement):
        self.send(b"\x19" + struct.pack("<I", statement))

    def result(self, read_row):
        result, failure = None, None
        while True:
            answer = self.receive()
            if answer[0] == 0xFF:
                raise error(answer)
            if answer[0] == LOCAL_INFILE:
                if self.infile:
                    self.send(self.infile, self.sequence + 1)
                    self.sequence += 1
                self.send(b"", self.sequence + 1)
                continue
            if answer[0] == 0:
                changed, rest = lenenc(answer[1:])
                _, rest = lenenc(rest)
                status, warnings = struct.unpack("<HH", rest[:4])
                result = Result(changed=changed, warnings=warnings)
            else:
                count, _ = lenenc(answer)
                columns = [Column(self.receive()) for _ in range(count)]
                self.receive()
                rows = []
                while True:
                    packet = self.receive()
                    if packet[0] == 0xFE and len(packet) < 9:
                        warnings, status = struct.unpack("<xHH", packet)
                        break
                    if packet[0] == 0xFF:
                        failure, status = error(packet), 0
                        break
                    rows.append(read_row(columns, packet))
                if not failure:
                    result = Result(columns, rows, warnings)
            if failure:
                raise failure
            if not status & 8:
                return result

    def warnings(self):
        """The numbers of the last statement's warnings, in their order."""
        return [int(row[1]) for row in self.query("SHOW WARNINGS").rows]


def error(packet):
    return ServerError(struct.unpack("<xH", packet[:3])[0], packet[9:].decode("utf-8", "replace"))


def lenenc(packet):
    first = packet[0]
    if first < 251:
        return first, packet[1:]
    size = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(packet[1 : 1 + size], "little"), packet[1 + size :]


def lenenc_bytes(packet):
    length, packet = lenenc(packet)
    return packet[:length], packet[length:]


def to_lenenc(value):
    size = len(value)
    if size < 251:
        return bytes([size]) + value
    return (b"\xfc" + struct.pack("<H", size) if size < 1 << 16 else b"\xfe" + struct.pack("<Q", size)) + value


def text_row(columns, packet):
    row = []
    for column in columns:
        if packet[0] == 0xFB:
            row.append(None)
            packet = packet[1:]
        else:
            value, packet = lenenc_bytes(packet)
            row.append(canonical(column.type, value))
    return row


def binary_row(columns, packet):
    width = (len(columns) + 9) // 8
    nulls, packet = packet[1 : 1 + width], packet[1 + width :]
    row = []
    for place, column in enumerate(columns, 2):
        if nulls[place // 8] >> place % 8 & 1:
            row.append(None)
            continue
        kind, signed = column.type, not column.flags & UNSIGNED
        size = {1: 1, 2: 2, 13: 2, 3: 4, 9: 4, 8: 8, 4: 4, 5: 8}.get(kind)
        if size and kind not in (4, 5):
            text = str(int.from_bytes(packet[:size], "little", signed=signed))
            width = column.length if column.flags & 64 else 0
            row.append(text.zfill(width).encode())
            packet = packet[size:]
        elif size:
            number = struct.unpack("<f" if kind == 4 else "<d", packet[:size])[0]
            row.append(canonical(kind, repr(number).encode()))
            packet = packet[size:]
        elif kind in (7, 10, 11, 12):
            length, packet = packet[0], packet[1:]
            row.append(temporal(kind, packet[:length], column.decimals).encode())
            packet = packet[length:]
        else:
            value, packet = lenenc_bytes(packet)
            row.append(value)
    return row


def temporal(kind, value, decimals):
    """The text of a date or time of the binary protocol."""
    fraction = lambda micros: f".{micros:06}"[: decimals + 1] if 0 < decimals <= 6 else ""
    if kind == 11:
        minus, days, hours, minutes, seconds, micros = struct.unpack("<BIBBBI", value.ljust(12, b"\0"))
        return f"{'-' if minus else ''}{days * 24 + hours:02}:{minutes:02}:{seconds:02}{fraction(micros)}"
    year, month, day, hour, minute, second, micros = struct.unpack("<HBBBBBI", value.ljust(11, b"\0"))
    date = f"{year:04}-{month:02}-{day:02}"
    return date if kind == 10 else f"{date} {hour:02}:{minute:02}:{second:02}{fraction(micros)}"


def canonical(kind, value):
    """A value of FLOAT or DOUBLE in the same digits in both protocols."""
    if kind not in (4, 5):
        return value
    number = float(value)
    if kind == 4:
        number = float(f"{number:.5e}")
    if not math.isfinite(number):
        return value
    if number == int(number) and abs(number) < 1e15:
        return str(int(number)).encode()
    digits, _, exponent = f"{number!r}".partition("e")
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits)
    whole, _, part = digits.partition(".")
    power = int(exponent or 0) + len(whole) - 1
    digits = whole + part
    power -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{power}".encode()


def unescape(text):
    """Bytes of a text in which `\\xNN` is a byte."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode())


def read_parameter(parameter):
    code, _, value = parameter.partition(":")
    return int(code.rstrip("u")), code.endswith("u"), value


def encode(code, value):
    """A parameter's value as the protocol sends it."""
    sizes = {1: 1, 2: 2, 13: 2, 3: 4, 9: 4, 8: 8}
    if code in sizes:
        return (int(value) & (1 << 8 * sizes[code]) - 1).to_bytes(sizes[code], "little")
    if code in (4, 5):
        return struct.pack("<f" if code == 4 else "<d", float(value))
    numbers = [int(number) for number in re.findall(r"\d+", value)]
    if code == 11:
        hours, minutes, seconds = numbers[:3]
        micros = int(str(value).partition(".")[2].ljust(6, "0"))
        body = struct.pack("<BIBBB", value.startswith("-"), hours // 24, hours % 24, minutes, seconds)
        return bytes([12]) + body + struct.pack("<I", micros) if micros else bytes([8]) + body
    if code in (7, 10, 12):
        micros = int(str(value).partition(".")[2].ljust(6, "0"))
        numbers = (numbers[:6] + [0] * 6)[:6]
        body = struct.pack("<HBBBBB", *numbers) + (struct.pack("<I", micros) if micros else b"")
        body = body[:4] if len(value) == 10 else body
        return bytes([len(body)]) + body
    return to_lenenc(unescape(value))
