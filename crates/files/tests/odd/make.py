"""Makes the odd files of this folder: what writers and users really produce, and what breaks readers.

Run by hand where a file is added, with Python 3.11 or later and:
    pip install pyarrow==26.0.1 duckdb==2.0.1 polars==2.1.0 openpyxl==3.1.5 xlsxwriter==3.3.1 zstandard odfpy==1.4.1
The tests read the files that are here; large ones are made by the tests themselves.
"""

import datetime as dt
import decimal
import gzip
import io
import pathlib
import struct
import sys
import zipfile

import duckdb
import numpy
import odf.opendocument
import odf.table
import odf.text
import openpyxl
import polars
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import xlsxwriter
import zstandard

OUT = pathlib.Path(__file__).parent / "files"
OUT.mkdir(exist_ok=True)


def put(name, content):
    (OUT / name).write_bytes(content.encode() if isinstance(content, str) else content)


def text_files():
    rows = "a,b\n1,é\n2,y\n"
    put("bom.csv", b"\xef\xbb\xbf" + rows.encode())
    put("only_bom.csv", b"\xef\xbb\xbf")
    put("utf16_mark.csv", b"\xff\xfe" + rows.encode("utf-16-le"))
    put("utf16_big.csv", rows.encode("utf-16-be"))
    put("utf16_odd.csv", b"\xff\xfe" + rows.encode("utf-16-le") + b"\x31")
    put("latin1.csv", rows.encode("latin-1"))
    put("lone_cr.csv", "a,b\r1,x\r2,y\r")
    put("mixed_ends.csv", "a,b\r\n1,x\n2,y\r\n3,z\n")
    put("mixed_ends_cr.csv", "a,b\n1,x\r2,y\n")
    put("no_final_newline.csv", "a,b\n1,x\n2,y")
    put("quote_inside.csv", 'a,b\n1,5" pipe\n2,x"y"z\n3,w\n')
    put("unclosed_quote.csv", 'a,b\n1,x\n2,"y\n3,z\n')
    put("blank_behind_quote.csv", 'a,b\n1,"x" \n2,y\n')
    put("text_behind_quote.csv", 'a,b\n1,"x"y\n2,z\n')
    put("newline_in_quotes.csv", 'a,b\n1,"x\ny"\n2,"z\r\nw"\n')
    put("ragged_short.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n")
    put("ragged_long.csv", "a,b\n1,2\n3,4,5\n")
    put("ragged_trailing.csv", "a,b\n1,2,\n3,4,\n")
    put("duplicate_headings.csv", "id,ID,,id_2,\n1,2,3,4,5\n")
    put("blank_headings.csv", " a , b \n1,2\n")
    put("empty.csv", "")
    put("header_only.csv", "a,b\n")
    put("only_newlines.csv", "\n\n\n")
    put("one_value.csv", "7")
    put("nul.csv", b"a,b\n1,x\x00y\n2,z\n")
    put("empty_lines_one_column.csv", "a\n1\n\n3\n")
    put("empty_lines.csv", "a,b\n1,x\n\n2,y\n")
    put("empty_text.csv", 'a,b\n1,""\n2,\n')
    put("null_words.csv", 'a,b\n1,NULL\n2,\\N\n3,"NULL"\n4,null\n')
    put("hash_rows.csv", "a,b\n#1,x\n2,y\n#3,z\n")
    put("digits_39.csv", "a\n123456789012345678901234567890123456789\n1\n")
    put("digits_66.csv", "a\n" + "9" * 66 + "\n1\n")
    put("leading_zeros.csv", "a,b\n007,1\n010,2\n")
    put("nanoseconds.csv", "a\n2024-01-01 10:00:00.123456789\n2024-01-02 10:00:00\n")
    put("inf_among_dates.csv", "a\n2024-01-01\ninf\n")
    put("ambiguous_dates.csv", "a,b\n01/02/2024,13/02/2024\n03/04/2024,14/02/2024\n")
    put("bad_date.csv", "a\n2024-02-30\n2024-01-01\n")
    put("decimal_comma.csv", "a;b\n1,5;1.234,50\n2,25;7,00\n")
    put("exponents.csv", "a,b\n1e3,1e400\n-0.0,2\n")
    put("true_and_numbers.csv", "a,b\ntrue,true\n1,false\n")
    put("quoted_numbers.csv", 'a,b\n"1","x"\n"2","y"\n')
    put("two_separators.csv", "a;b,c\n1;2,3\n4;5,6\n")
    put("tabs.tsv", "a\tb\n1\tx,y\n2\t\n")
    gz = lambda text: gzip.compress(text.encode(), mtime=0)
    put("members.csv.gz", gz("a,b\n1,x\n") + gz("2,y\n") + gz("") + gz("3,z\n"))
    put("cut.csv.gz", gz("a,b\n" + "1,x\n" * 1000)[:-12])
    put("garbage_behind.csv.gz", gz("a,b\n1,x\n") + b"garbage")
    put("not_packed.csv.gz", "a,b\n1,x\n")
    packed = lambda text: zstandard.ZstdCompressor().compress(text.encode())
    skipped = struct.pack("<II", 0x184D2A50, 4) + b"skip"
    put("skippable.csv.zst", skipped + packed("a,b\n1,x\n") + skipped + packed("2,y\n"))
    put("cut.csv.zst", packed("a,b\n" + "1,x\n" * 1000)[:-6])
    put("packed_without_ending.csv", gz("a,b\n1,x\n"))


def json_files():
    put("array.json", '[{"a": 1, "b": "x"},\n {"a": 2}]\n')
    put("bom.json", b"\xef\xbb\xbf" + b'{"a": 1}\n{"a": 2}\n')
    put("utf16.json", '{"a": "é"}\n'.encode("utf-16"))
    put("duplicate_keys.json", '{"a": 1, "a": 2}\n{"a": 3}\n')
    put("keys_by_case.json", '{"a": 1, "A": 2}\n')
    put("beyond_64_bits.json", '{"a": 18446744073709551616}\n{"a": 1}\n')
    put("beyond_65_digits.json", '{"a": ' + "9" * 66 + "}\n")
    put("nan.json", '{"a": NaN}\n')
    put("nan_text.json", '{"a": "NaN"}\n{"a": 1}\n')
    put("too_large.json", '{"a": 1e400}\n')
    put("minus_zero.json", '{"a": -0}\n{"a": -0.0}\n')
    put("deep.json", '{"a": ' + "[" * 5000 + "]" * 5000 + "}\n")
    put("nested.json", '{"a": {"b": [1, {"c": null}]}}\n{"a": [1.50]}\n')
    put("concatenated.json", '{"a": 1}{"a": 2}{"a": 3}')
    put("over_lines.json", '{\n "a":\n 1}\n{"a": 2}\n')
    put("empty.json", "")
    put("empty_array.json", "[]")
    put("scalars.json", '1\n"x"\nnull\n')
    put("mixed_kinds.json", '{"a": 1}\n{"a": "x"}\n{"a": [1]}\n{"a": null}\n')
    put("late_fraction.json", "".join('{"a": %d}\n' % n for n in range(200)) + '{"a": 2.5}\n')
    put("trailing_comma.json", '{"a": 1,}\n')
    put("comments.json", '// of nobody\n{"a": 1}\n')
    put("single_quotes.json", "{'a': 1}\n")
    put("unclosed_array.json", '[{"a": 1}, {"a": 2}')
    put("behind_array.json", '[{"a": 1}] {"a": 2}')
    put("comma_lines.json", '{"a": 1},\n{"a": 2}\n')
    put("lone_surrogate.json", '{"a": "\\ud800"}\n')
    put("zero_character.json", '{"a": "x\\u0000y"}\n')
    put("offsets.json", '{"a": "2024-01-01T10:00:00+02:00"}\n')
    put("bad_utf8.json", b'{"a": "\xff"}\n')
    put("members.ndjson.gz", gzip.compress(b'{"a": 1}\n', mtime=0) + gzip.compress(b'{"a": 2}\n', mtime=0))


def write(name, columns, **options):
    table = pa.table(columns)
    pq.write_table(table, OUT / name, **options)
    return table


def parquet_files():
    moment = dt.datetime(1600, 2, 29, 1, 2, 3, 456789)
    stamps = pa.array([moment, None, dt.datetime(2024, 1, 1)], pa.timestamp("us"))
    write("int96.parquet", {"a": stamps}, use_deprecated_int96_timestamps=True, store_schema=False)
    unsigned = {f"u{bits}": pa.array([0, 2**bits - 1, None], getattr(pa, f"uint{bits}")()) for bits in (8, 16, 32, 64)}
    write("unsigned.parquet", unsigned)
    number = lambda text, *of: pa.array([decimal.Decimal(text), None, decimal.Decimal(0)], pa.decimal128(*of))
    physical = {"i32": number("-1234567.89", 9, 2), "i64": number("-12345678901234567.8", 18, 1)}
    write("decimal_integers.parquet", physical, store_decimal_as_integer=True)
    write("decimal_bytes.parquet", {"f": number("-1.23", 5, 2), "g": number("9" * 38, 38, 0)}, store_schema=False)
    wide = pa.array([decimal.Decimal("-" + "9" * 65), None], pa.decimal256(65, 0))
    wider = pa.array([decimal.Decimal("9" * 76), None], pa.decimal256(76, 0))
    write("decimal_wide.parquet", {"a": wide, "b": wider})
    halves = pa.array([numpy.float16(1.5), None, numpy.float16("nan")], pa.float16())
    write("float16.parquet", {"a": halves})
    floats = {"f": pa.array([1.5, float("nan"), float("-inf")], pa.float32()), "d": pa.array([-0.0, float("inf"), 1e308])}
    write("floats.parquet", floats)
    nested = {
        "list": pa.array([[1, None], [], None], pa.list_(pa.int32())),
        "map": pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int32())),
        "struct": pa.array([{"x": 1, "y": [b"\xff"]}, {"x": None, "y": None}, None], pa.struct([("x", pa.int8()), ("y", pa.list_(pa.binary()))])),
    }
    write("nested.parquet", nested)
    write("zero_rows.parquet", {"a": pa.array([], pa.int32()), "b": pa.array([], pa.string())})
    schema = pa.schema([("a", pa.int32())])
    pq.ParquetWriter(OUT / "zero_groups.parquet", schema).close()
    pq.write_table(pa.table({}), OUT / "zero_columns.parquet")
    texts = {"a": pa.array(["x", None, "é"] * 50), "n": pa.array(range(150))}
    write("pages_v2.parquet", texts, data_page_version="2.0", data_page_size=64, use_dictionary=False)
    for codec in ("none", "snappy", "gzip", "zstd", "lz4", "brotli"):
        write(f"codec_{codec}.parquet", texts, compression=codec)
    write("dictionary_overflow.parquet", {"a": pa.array([f"text {n}" for n in range(2000)])}, dictionary_pagesize_limit=512)
    for encoding, column in (
        ("DELTA_BINARY_PACKED", pa.array([1, -(2**62), 2**62])),
        ("DELTA_BYTE_ARRAY", pa.array(["abc", "abd", ""])),
        ("DELTA_LENGTH_BYTE_ARRAY", pa.array(["abc", "abd", ""])),
        ("BYTE_STREAM_SPLIT", pa.array([1.5, -2.5, 0.0])),
    ):
        write(f"encoding_{encoding.lower()}.parquet", {"a": column}, use_dictionary=False, column_encoding={"a": encoding})
    times = {
        "s": pa.array([dt.time(23, 59, 59), None], pa.time32("ms")),
        "ns": pa.array([86_399_999_999_999, 1000], pa.time64("ns")),
        "tz": pa.array([dt.datetime(2024, 6, 1, 12), None], pa.timestamp("ms", tz="Europe/Berlin")),
        "d": pa.array([dt.date(9999, 12, 31), dt.date(1, 1, 1)]),
    }
    write("times.parquet", times)
    write("years.parquet", {"a": pa.array([dt.date(2024, 1, 1), None]).cast(pa.int32()).cast(pa.date32())})
    far = pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32())
    write("infinite_date.parquet", {"a": far})
    write("nulls.parquet", {"a": pa.nulls(2), "b": pa.array([None, None], pa.int32())})
    write("bytes.parquet", {"b": pa.array([b"\x00\xff", None]), "f": pa.array([b"abcd", b"efgh"], pa.binary(4))})
    write("dictionary.parquet", {"a": pa.array(["x", None, "x"]).dictionary_encode()})
    write("text_columns.parquet", {"a,b": pa.array([1]), "": pa.array([2]), "A,B": pa.array([3])})
    database = duckdb.connect()
    for name, query in (
        ("duck_uuid", "SELECT uuid '00112233-4455-6677-8899-aabbccddeeff' AS a"),
        ("duck_interval", "SELECT INTERVAL '14 months 3 days 1.5 seconds' AS a, 1 AS b"),
        ("duck_types", "SELECT TIME '24:00:00' AS t, true AS b, '[1, 2]'::JSON AS j, 'x'::ENUM('x', 'y') AS e, 170141183460469231731687303715884105727::HUGEINT AS h"),
        ("duck_list", "SELECT [1, NULL, 3] AS l, {'x': 1, 'y': 'z'} AS s, MAP {'k': 1} AS m"),
        ("duck_variant", "SELECT 42::VARIANT AS v, 1 AS n"),
    ):
        database.execute(f"COPY ({query}) TO '{OUT / name}.parquet' (FORMAT parquet)")
    polars.DataFrame({"a": [2**100, -1, None]}, schema={"a": polars.Int128}).write_parquet(OUT / "polars_int128.parquet")
    polars.DataFrame({"a": [dt.timedelta(hours=30), None]}).write_parquet(OUT / "polars_duration.parquet")
    whole = (OUT / "codec_snappy.parquet").read_bytes()
    put("cut_footer.parquet", whole[:-20])
    put("only_magic.parquet", b"PAR1")
    put("two_magics.parquet", b"PAR1PAR1")
    put("encrypted.parquet", whole[:-4] + b"PARE")
    damaged = bytearray(whole)
    damaged[30] ^= 0xFF
    put("damaged_page.parquet", bytes(damaged))
    put("text.parquet", "a,b\n1,x\n")
    put("parquet.csv", whole)
    put("without_ending", whole)


def arrow_files():
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    batch = pa.record_batch([pa.array([1, None]), pa.array(["x", "é"])], schema)

    def ipc(name, batches, schema, stream=False, **options):
        new = pa.ipc.new_stream if stream else pa.ipc.new_file
        with new(str(OUT / name), schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            for one in batches:
                writer.write_batch(one)

    ipc("file.arrow", [batch, batch], schema)
    ipc("stream.arrows", [batch, batch], schema, True)
    ipc("stream_as_file.arrow", [batch], schema, True)
    ipc("no_batches.arrow", [], schema)
    ipc("no_batches.arrows", [], schema, True)
    for codec in ("lz4", "zstd"):
        ipc(f"compressed_{codec}.arrow", [batch], schema, compression=codec)
    words = lambda values: pa.array(values).dictionary_encode()
    coded = pa.schema([("a", pa.dictionary(pa.int32(), pa.string()))])
    first = pa.record_batch([words(["x", None, "y"])], coded)
    longer = pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int32()), pa.array(["x", "y", "z"]))], coded)
    ipc("dictionary_delta.arrows", [first, longer], coded, True, emit_dictionary_deltas=True)
    other = pa.record_batch([words(["z", "w"])], coded)
    ipc("dictionary_replaced.arrows", [first, other], coded, True)
    nulls = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["x", None]))
    ipc("dictionary_null.arrow", [pa.record_batch([nulls], ["a"])], pa.schema([("a", nulls.type)]))

    def one(name, array, **options):
        made = pa.record_batch([array, pa.array(range(len(array)))], ["a", "n"])
        ipc(name, [made], made.schema, **options)

    one("views.arrow", pa.array(["short", "a text of more than twelve bytes", None], pa.string_view()))
    one("binary_views.arrow", pa.array([b"\xff", b"more than twelve bytes of it"], pa.binary_view()))
    one("run_end.arrow", pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", "y"])))
    one("union.arrow", pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]))
    one("list_view.arrow", pa.array([[1, 2], [], None], pa.list_view(pa.int32())))
    one("fixed_list.arrow", pa.array([[1, 2], None], pa.list_(pa.int32(), 2)))
    one("decimal32.arrow", pa.array([decimal.Decimal("1.25"), None], pa.decimal32(5, 2)))
    one("decimal64.arrow", pa.array([decimal.Decimal("-1.25"), None], pa.decimal64(15, 2)))
    one("decimal_negative_scale.arrow", pa.array([decimal.Decimal("1200")], pa.decimal128(5, -2)))
    one("half.arrow", pa.array([numpy.float16(0.5), None], pa.float16()))
    one("month_day_nano.arrow", pa.array([(1, 2, 3)], pa.month_day_nano_interval()))
    one("duration.arrow", pa.array([-3_600_000_000, 10**13], pa.duration("us")))
    one("bool8.arrow", pa.ExtensionArray.from_storage(pa.bool8(), pa.array([5, 0, None], pa.int8())))
    one("uuid.arrow", pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(range(16))], pa.binary(16))))
    one("large.arrow", pa.array(["x", None], pa.large_string()))
    whole = (OUT / "file.arrow").read_bytes()
    put("cut.arrow", whole[: len(whole) // 2])
    stream = (OUT / "stream.arrows").read_bytes()
    put("cut.arrows", stream[:-40])
    put("without_end_mark.arrows", stream[:-8])
    put("empty.arrow", b"")


def excel_files():
    def book(name, fill, **options):
        made = xlsxwriter.Workbook(OUT / name, options)
        made.set_properties({"created": dt.datetime(2024, 1, 1)})
        fill(made, made.add_worksheet("First"))
        made.close()

    def dates(made, sheet):
        day, moment, hours = (made.add_format({"num_format": form}) for form in ("yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "[h]:mm"))
        sheet.write_row(0, 0, ["day", "moment", "time", "hours", "serial"])
        time = made.add_format({"num_format": "hh:mm"})
        for row, (d, m, t, h) in enumerate(((60, 45292.5, 0.25, 1.260416666666667), (59, 1.0, 0.999, -0.5), (2958465, 45293.25, 0.0, 0.0)), 1):
            sheet.write_number(row, 0, d, day)
            sheet.write_number(row, 1, m, moment)
            sheet.write_number(row, 2, t, time)
            sheet.write_number(row, 3, h, hours)
            sheet.write_number(row, 4, d)

    book("dates.xlsx", dates)
    book("dates_1904.xlsx", dates, date_1904=True)

    def merged(made, sheet):
        sheet.write_row(0, 0, ["a", "b"])
        sheet.merge_range(1, 0, 2, 0, "both")
        sheet.write_column(1, 1, [1, 2])

    book("merged.xlsx", merged)

    def errors(made, sheet):
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_formula(1, 0, "=1/0", value="#DIV/0!")
        sheet.write_formula(2, 0, "=NA()", value="#N/A")
        sheet.write_number(3, 0, 7)
        sheet.write_formula(1, 1, "=1+1", value=2)
        sheet.write_formula(2, 1, '=""', value="")
        sheet.write_boolean(3, 1, True)

    book("errors.xlsx", errors)
    book("empty_sheet.xlsx", lambda made, sheet: None)

    def header(made, sheet):
        sheet.write_row(0, 0, ["a", "b"])

    book("header_only.xlsx", header)

    def mixed(made, sheet):
        sheet.write_row(0, 0, ["a", "b", "c"])
        for row in range(1, 150):
            sheet.write_number(row, 0, row)
            sheet.write_number(row, 1, row)
        sheet.write_string(149, 0, "text")
        sheet.write_number(148, 1, 2.5)

    book("late_values.xlsx", mixed)

    def gaps(made, sheet):
        sheet.write(4, 2, "a")
        sheet.write(4, 3, "b")
        sheet.write(6, 2, 1)
        sheet.write(8, 3, 2)

    book("gaps.xlsx", gaps)

    def texts(made, sheet):
        sheet.write_row(0, 0, ["a", "a", "", "b c"])
        sheet.write_rich_string(1, 0, made.add_format({"bold": True}), "bold", " and plain")
        sheet.write_row(1, 1, ["=no formula", "007", " blank "])
        sheet.write_row(2, 0, ["line\nbreak", "é€", "", "x"])

    book("texts.xlsx", texts, strings_to_formulas=False)

    def sheets(made, sheet):
        sheet.write_row(0, 0, ["a"])
        sheet.write(1, 0, 1)
        second = made.add_worksheet("Second sheet")
        second.write_row(0, 0, ["b"])
        second.write(1, 0, 2)
        second.hide()
        made.add_chartsheet("Chart")

    book("sheets.xlsx", sheets)

    def large(made, sheet):
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write(1, 0, 9007199254740993)
        sheet.write(1, 1, 1e308)
        sheet.write(2, 0, 0.1)
        sheet.write(2, 1, -1e-300)

    book("numbers.xlsx", large)
    book("constant_memory.xlsx", texts, constant_memory=True, strings_to_formulas=False)
    made = openpyxl.Workbook()
    made.active.append(["a", "b"])
    made.active.append([dt.datetime(2024, 1, 1, 12), dt.time(1, 2, 3)])
    made.active.append([None, dt.timedelta(hours=30)])
    made.properties.created = made.properties.modified = dt.datetime(2024, 1, 1)
    made.save(OUT / "openpyxl.xlsx")
    document = odf.opendocument.OpenDocumentSpreadsheet()
    table = odf.table.Table(name="S")
    for values in (["a", "b"], ["1", "x"], ["2", "y"]):
        row = odf.table.TableRow(numberrowsrepeated=2 if values[0] == "2" else 1)
        for value in values:
            kind = "float" if value.isdigit() else "string"
            cell = odf.table.TableCell(valuetype=kind, **({"value": value} if kind == "float" else {}))
            cell.addElement(odf.text.P(text=value))
            row.addElement(cell)
        table.addElement(row)
    document.spreadsheet.addElement(table)
    document.save(OUT / "repeated.ods")
    put("text.xlsx", "a,b\n1,x\n")
    put("old.xls", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
    put("password.xlsx", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
    whole = (OUT / "merged.xlsx").read_bytes()
    put("cut.xlsx", whole[: len(whole) // 2])
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(zipfile.ZipInfo("readme.txt"), "no workbook")
    put("archive.xlsx", other.getvalue())


for part in (text_files, json_files, parquet_files, arrow_files, excel_files):
    try:
        part()
    except Exception as error:
        print(part.__name__, repr(error), file=sys.stderr)
        raise
print(len(list(OUT.iterdir())), "files")
