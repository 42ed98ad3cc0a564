"""Columns that become a CSV file, a million rows at a time."""


def write(path, columns):
    """Writes columns, each an array or a function from a range of rows to one, a million rows at a time."""
    import pyarrow
    from pyarrow import csv

    rows = len(next(iter(columns.values())))
    with open(path, "wb") as file:
        for start in range(0, rows, 1_000_000):
            part = pyarrow.table({name: column[start : start + 1_000_000] for name, column in columns.items()})
            csv.write_csv(part, file, csv.WriteOptions(include_header=start == 0, quoting_style="none"))


class Named:
    """Numbers as text, made when a part of them is written."""

    def __init__(self, form, numbers):
        self.form, self.numbers = form, numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, part):
        return [self.form % number for number in self.numbers[part].tolist()]
