"""Grids: statements made from lists of words, and what a server answers to each.

A description (`*.grid`) has lists (`axis`), statements that are run once (`setup`, once for each word of a list where it is
`setup each NAME`) and a program of steps that is run for each combination of words (cell). `{axis}` stands for a word, `{axis.field}` or `{field}` for one of
its fields, again and again until none is left. An axis says the names of its fields behind its own; fields are separated by ` | `.

A step is a line: how it is run, and a statement or expressions.

| how | what is run | atoms of its answer |
| --- | --- | --- |
| `do` | a text; an error ends the cell | the error, if one comes |
| `run` | a text | `ok` or the error, and the numbers of the warnings |
| `try` | a text | `ok` or the error |
| `load` | a text with LOAD DATA LOCAL; the file's content stands before ` <- ` | the same |
| `rows` | a query | the values of each column, or the error |
| `types` | a query | the description of each column, or the error |
| `shape` | SHOW FULL COLUMNS | Type, Collation, Null and Default, or the error |
| `undo` | a text | none |
| `other`, `other-undo` | the same as `do` and `undo` in another session | |
| `query`, `text`, `binary` | expressions between ` ;; `, and what stands behind SELECT … behind ` @ ` | value and type of each |
| `sent` | a statement that is prepared in the binary protocol; its parameter (all are the same) stands before ` <- ` | as of `run`; value and type of each column |

`text` prepares in text and executes with the user variable of the word `{a}` for each `?`; `binary` prepares in the protocol and executes with
the parameter `{a.sent}`. Where expressions fail together they are asked one by one.
"""

import pathlib
import re

from protocol import ServerError

PLACE = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


class Grid:
    """A description that was read."""

    def __init__(self, path):
        self.name = pathlib.Path(path).stem
        self.setup, self.axes, self.program = [], {}, []
        self.fields = {}
        kind = name = None
        for line in pathlib.Path(path).read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if not line.startswith("  "):
                kind, *rest = line.split()
                name = rest[-1] if kind == "setup" and rest else rest[0] if rest else None
                if kind == "axis":
                    self.axes[name], self.fields[name] = [], rest[1:]
            elif kind == "setup":
                self.setup.append((name, line[2:]))
            elif kind == "axis":
                names = self.fields[name] or ["name"]
                fields = [field.strip() for field in line[2:].split(" |")] if self.fields[name] else [line[2:]]
                self.axes[name].append(dict(zip(names, fields + [""] * len(names))))
            else:
                self.program.append(line[2:])

    def statements(self):
        """The statements of the setup."""
        for axis, statement in self.setup:
            words = self.axes[axis] if axis else [None]
            for word in words:
                yield expand(statement, {axis: word})

    def blocks(self):
        """The combinations of words of all axes but the last two."""
        yield from product([self.axes[name] for name in list(self.axes)[:-2]])

    def cells(self, block):
        """The cells of a block: words of the last two axes."""
        first, second = list(self.axes)[-2:]
        for one in self.axes[first]:
            for other in self.axes[second]:
                words = dict(zip(self.axes, block + [one, other]))
                yield one, other, words


def product(lists):
    if not lists:
        yield []
        return
    for word in lists[0]:
        for rest in product(lists[1:]):
            yield [word] + rest


def first(word):
    return next(iter(word.values()))


def label(word):
    """The name of a word in files, where spaces divide names."""
    return first(word).replace(" ", "_")


def expand(text, words):
    """The text with words in place of their names."""
    def put(found):
        word = words.get(found[1])
        if word:
            return word[found[2] or next(iter(word))]
        return next((word[found[1]] for word in words.values() if word and found[1] in word), found[0])

    while True:
        done = PLACE.sub(put, text)
        if done == text:
            return text
        text = done


def atom(value):
    """A value as it stands in a file."""
    if value is None:
        return "N"
    text = value.decode("utf-8", "backslashreplace")
    text = text.replace("N", "\\x4e") if text == "N" else text
    text = re.sub(r"[\x00-\x1f\x7f|~\t]", lambda found: f"\\x{ord(found[0]):02x}", text)
    return short(re.sub(r"^ | $", r"\\x20", text))


def short(text):
    """A long text as its beginning, its length and a hash (FNV-1a)."""
    if len(text) <= 100:
        return text
    code = 0x811C9DC5
    for byte in text.encode():
        code = (code ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{text[:60]}…{len(text)}#{code:08x}"


def column_atom(rows, place):
    return ",".join(atom(row[place]) for row in rows)


class Runner:
    """Runs cells on a connection."""

    def __init__(self, connection, other):
        self.connection, self.other = connection, other

    def cell(self, program, words):
        """The atoms of a cell's answer."""
        atoms = []
        for step in program:
            how, _, text = expand(step, words).partition(" ")
            if not how:
                continue
            if how in ("undo", "other-undo"):
                connection = self.connection if how == "undo" else self.other()
                self.attempt(lambda text=text, to=connection: to.query(text))
            elif atoms is not None and not (atoms and atoms[-1].startswith("!")):
                atoms += getattr(self, "step_" + how)(text, words)
        return atoms

    def attempt(self, act):
        try:
            return act(), None
        except ServerError as failure:
            return None, failure.errno

    def step_do(self, text, words):
        _, errno = self.attempt(lambda: self.connection.query(text))
        return [f"!{errno}"] if errno else []

    def step_other(self, text, words):
        _, errno = self.attempt(lambda: self.other().query(text))
        return [f"!{errno}"] if errno else []

    def told(self, result, errno):
        if errno:
            return f"E{errno}"
        warnings = self.connection.warnings() if result.warnings else []
        return " ".join(["ok", *map(str, warnings)])

    def step_run(self, text, words):
        return [self.told(*self.attempt(lambda: self.connection.query(text)))]

    def step_try(self, text, words):
        _, errno = self.attempt(lambda: self.connection.query(text))
        return [f"E{errno}" if errno else "ok"]

    def step_load(self, text, words):
        content, _, text = text.partition(" <- ")
        self.connection.infile = content.encode().replace(b"\\n", b"\n")
        return self.step_run(text, words)

    def step_rows(self, text, words):
        result, errno = self.attempt(lambda: self.connection.query(text))
        if errno:
            return [f"E{errno}"]
        return [column_atom(result.rows, place) for place in range(len(result.columns))]

    def step_types(self, text, words):
        result, errno = self.attempt(lambda: self.connection.query(text))
        return [f"E{errno}"] if errno else [column.description() for column in result.columns]

    def step_shape(self, text, words):
        atoms = self.step_rows(text, words)
        return [atoms[place] for place in (1, 2, 3, 5)] if len(atoms) > 1 else atoms

    def step_sent(self, text, words):
        parameter, _, text = text.partition(" <- ")
        result, errno = self.attempt(lambda: self.prepared(text, parameter))
        atoms = [self.told(result, errno)]
        if result:
            for place, column in enumerate(result.columns):
                atoms += [column_atom(result.rows, place), column.type_name()]
        return atoms

    def prepared(self, text, parameter):
        statement, parameters, _ = self.connection.prepare(text)
        try:
            return self.connection.execute(statement, [parameter] * len(parameters))
        finally:
            self.connection.close(statement)

    def select(self, text, run):
        expressions, _, behind = text.partition(" @ ")
        expressions = expressions.split(" ;; ")
        ask = lambda some: self.attempt(lambda: run(f"SELECT {', '.join(some)} {behind}".rstrip()))
        result, errno = ask(expressions)
        atoms = []
        for place, expression in enumerate(expressions):
            one, failed, at = result, errno, place
            if errno and len(expressions) > 1:
                (one, failed), at = ask([expression]), 0
            atoms += [f"E{failed}", "-"] if failed else [column_atom(one.rows, at), one.columns[at].type_name()]
        return atoms

    def step_query(self, text, words):
        return self.select(text, self.connection.query)

    def step_text(self, text, words):
        def run(sql):
            count = sql.count("?")
            quoted = sql.replace("\\", "\\\\").replace("'", "''")
            self.connection.query(f"PREPARE s FROM '{quoted}'")
            using = f" USING {', '.join(['@' + first(words['a'])] * count)}" if count else ""
            return self.connection.query(f"EXECUTE s{using}")

        return self.select(text, run)

    def step_binary(self, text, words):
        return self.select(text, lambda sql: self.prepared(sql, words["a"]["sent"]))
