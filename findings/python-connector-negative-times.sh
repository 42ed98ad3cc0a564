#!/usr/bin/env bash
# MySQL's own connector for Python, in its prepared statements (pure Python, no server needed to see it):
#
# | duration | sent, or read |
# |---|---|
# | -0.5 s as a parameter | the bytes of -47:59:59.5 |
# | -30 h as a parameter | the bytes of -66:00:00 |
# | the bytes of -01:00:00 in a result | +1 h |
# | the bytes of -34 days 22:59:59 in a result | -34 days and +22:59:59 |
#
# datetime.timedelta holds a negative duration as negative days and a positive rest; the connector sends both parts beside the
# sign as they are, and gives the sign of what it reads to the days alone. What passes through text (cursors that are not prepared) is
# right, and so is what PyMySQL and mysqlclient do. A TIME below zero that such a program stores, or reads, is another one.
#
# Seen with mysql-connector-python 26.10.0. Fails when that has changed.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/python"
"$home/python/bin/pip" install --quiet mysql-connector-python==26.10.0 PyMySQL==1.2.4
"$home/python/bin/python" - <<'PYTHON'
import struct
from datetime import timedelta

import mysql.connector
import pymysql.converters
from mysql.connector.conversion import MySQLConverter
from mysql.connector.protocol import MySQLProtocol

print("mysql-connector-python", mysql.connector.__version__)
protocol = MySQLProtocol()


def sent(value):
    """The duration that the bytes of a parameter mean: a length, the sign, days, hours, minutes, seconds, microseconds."""
    packet = protocol.make_stmt_execute(1, data=[value], parameters=[None])
    # Statement, flags, iterations, NULL bits, "types follow", the type.
    body = packet[4 + 1 + 4 + 1 + 1 + 2:]
    negative, days, hours, minutes, seconds = struct.unpack_from("<BIBBB", body, 1)
    micros = struct.unpack_from("<I", body, 9)[0] if body[0] == 12 else 0
    whole = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=micros)
    return -whole if negative else whole


def read(negative, days, hours, minutes, seconds):
    body = struct.pack("<BIBBB", negative, days, hours, minutes, seconds)
    return protocol._parse_binary_time(bytes([len(body)]) + body)[1]


for value, means in [
    (timedelta(seconds=-0.5), timedelta(hours=-47, minutes=-59, seconds=-59.5)),
    (timedelta(hours=-30), timedelta(hours=-66)),
    (timedelta(hours=30), timedelta(hours=30)),
]:
    print(f"sends {value.total_seconds()} s as {sent(value).total_seconds()} s")
    assert sent(value) == means, "this has changed"
for parts, found in [
    ((1, 0, 1, 0, 0), timedelta(hours=1)),
    ((1, 34, 22, 59, 59), timedelta(days=-34, hours=22, minutes=59, seconds=59)),
]:
    right = -timedelta(days=parts[1], hours=parts[2], minutes=parts[3], seconds=parts[4])
    print(f"reads {right.total_seconds()} s as {read(*parts).total_seconds()} s")
    assert read(*parts) == found, "this has changed"
# As text they are right.
half = timedelta(seconds=-0.5)
assert MySQLConverter().to_mysql(half) == b"-00:00:00.500000"
assert pymysql.converters.escape_timedelta(half) == "'-00:00:00.500000'"
PYTHON
