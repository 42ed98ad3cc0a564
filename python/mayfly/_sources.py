"""Objects that statements read as tables: how each kind of object gives a stream of Arrow's record batches."""

import itertools
import sys

#: How many rows of a list or an iterator make a record batch; the types of the columns are those of the first ones.
ROWS_AT_ONCE = 1024


class Source:
    """An object as a stream: ``open()`` gives an object with ``__arrow_c_stream__``."""

    #: Whether ``open`` takes the numbers of the columns that are wanted; then ``schema`` has an ``__arrow_c_schema__``.
    projects = False
    schema = None
    #: The exception that has ended the reading.
    error = None

    def __init__(self, open, once=False, rows=None):
        self.open, self.once, self.rows = open, once, rows


class Selecting(Source):
    """An object that reads only the columns that it is asked for."""

    projects = True

    def __init__(self, schema, select, rows=None):
        super().__init__(self._open, rows=rows)
        self.schema, self.select = schema, select

    def _open(self, columns):
        names = [self.schema.names[column] for column in columns]
        # A stream without columns has no rows.
        return self.select(names or self.schema.names[:1])


def source(object, columns=None):
    """The Source of an object; None for an object of no known kind."""
    for kind in (_of_pandas, _of_polars, _of_dataset, _of_stream, _of_arrays, _of_rows):
        found = kind(object, columns)
        if found is not None:
            return found
    return None


def _loaded(name):
    """A module that is loaded already: an object of it cannot exist before."""
    return sys.modules.get(name)


def _pyarrow(what):
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f"reading {what} as a table needs pyarrow") from error
    return pyarrow


def _of_pandas(object, _):
    pandas = _loaded("pandas")
    if pandas is None:
        return None
    if isinstance(object, pandas.Series):
        object = object.to_frame()
    if not isinstance(object, pandas.DataFrame):
        return None
    pyarrow = _pyarrow("a pandas.DataFrame")
    schema = pyarrow.Schema.from_pandas(object, preserve_index=False)

    def select(names):
        places = [schema.names.index(name) for name in names]
        part = object.iloc[:, places]
        wanted = pyarrow.schema([schema.field(place) for place in places])
        return pyarrow.Table.from_pandas(part.set_axis(names, axis=1), schema=wanted, preserve_index=False)

    if len(set(schema.names)) < len(schema.names):
        return Source(lambda: pyarrow.Table.from_pandas(object, preserve_index=False), rows=len(object))
    return Selecting(schema, select, len(object))


def _of_polars(object, _):
    polars = _loaded("polars")
    if polars is None or not isinstance(object, (polars.LazyFrame, polars.Series)):
        return None
    if isinstance(object, polars.Series):
        return Source(lambda: object.to_frame(), rows=len(object))
    return Source(lambda: object.collect())


def _of_dataset(object, _):
    dataset = _loaded("pyarrow.dataset")
    if dataset is None or not isinstance(object, dataset.Dataset):
        return None
    return Selecting(object.schema, lambda names: object.scanner(columns=names).to_reader())


def _of_stream(object, _):
    if isinstance(object, type):
        return None
    if hasattr(object, "__arrow_c_stream__"):
        once = hasattr(object, "__next__") or hasattr(object, "read_next_batch")
        rows = next((getattr(object, name) for name in ("num_rows", "height") if hasattr(object, name)), None)
        return Source(lambda: object, once=once, rows=rows if isinstance(rows, int) else None)
    if hasattr(object, "__arrow_c_array__"):
        pyarrow = _pyarrow("one record batch")
        return Source(lambda: pyarrow.Table.from_batches([pyarrow.record_batch(object)]))
    return None


def _of_arrays(object, _):
    if not isinstance(object, dict) or not object:
        return None
    pyarrow = _pyarrow("a dictionary of arrays")
    table = pyarrow.table({str(name): pyarrow.array(values) for name, values in object.items()})
    return Source(lambda: table, rows=table.num_rows)


def _of_rows(object, columns):
    is_list = isinstance(object, (list, tuple))
    if not is_list and not hasattr(object, "__next__"):
        return None
    iterator = iter(object)
    first = list(itertools.islice(iterator, ROWS_AT_ONCE))
    if first and not isinstance(first[0], (dict, tuple, list)):
        return None
    pyarrow = _pyarrow("rows")
    if columns is not None:
        names = [str(name) for name in columns]
    elif not first:
        raise ValueError("there is no row that tells the columns")
    elif isinstance(first[0], dict):
        names = list(dict.fromkeys(name for row in first for name in row))
    else:
        names = [f"column{number}" for number in range(len(first[0]))]

    def values(rows, name, place):
        if rows and isinstance(rows[0], dict):
            return [row.get(name) for row in rows]
        return [row[place] for row in rows]

    def batch(rows, schema=None):
        arrays = [
            pyarrow.array(values(rows, name, place), schema and schema.field(place).type) for place, name in enumerate(names)
        ]
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema) if schema else pyarrow.RecordBatch.from_arrays(arrays, names)

    begin = batch(first)
    result = Source(None, once=not is_list, rows=len(object) if is_list else None)

    def batches(rest):
        try:
            yield begin
            while rows := list(itertools.islice(rest, ROWS_AT_ONCE)):
                yield batch(rows, begin.schema)
        except BaseException as error:
            result.error = error
            raise

    def open():
        rest = itertools.islice(object, len(first), None) if is_list else iterator
        return pyarrow.RecordBatchReader.from_batches(begin.schema, batches(rest))

    result.open = open
    return result
