"""Results in the tables of other libraries, each from an object with ``__arrow_c_stream__``."""


def record_batches(stream):
    """A pyarrow.RecordBatchReader."""
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(stream)


def arrow(stream):
    """A pyarrow.Table."""
    return record_batches(stream).read_all()


def df(stream):
    """A pandas.DataFrame."""
    return arrow(stream).to_pandas()


def pl(stream):
    """A polars.DataFrame."""
    import polars

    return polars.DataFrame(stream)


def fetchnumpy(stream):
    """A dictionary of NumPy arrays."""
    import numpy

    arrays = {}
    for name, column in zip(*_columns(arrow(stream))):
        while name in arrays:
            name += "_1"
        nulls = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        values = column.to_numpy(zero_copy_only=False)
        if nulls is not None and column.type in _whole_types():
            values = column.fill_null(0).to_numpy(zero_copy_only=False)
        arrays[name] = values if nulls is None else numpy.ma.masked_array(values, nulls)
    return arrays


def _columns(table):
    return table.column_names, table.columns


def _whole_types():
    import pyarrow

    return [getattr(pyarrow, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
