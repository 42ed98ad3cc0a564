"""The dialect of SQLAlchemy."""

import datetime
import decimal

import mayfly
import pytest

sa = pytest.importorskip("sqlalchemy")
from sqlalchemy import orm  # noqa: E402


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(40), unique=True)
    born: orm.Mapped[datetime.date | None]
    royalty: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(10, 2))
    wakes: orm.Mapped[datetime.time | None]
    active: orm.Mapped[bool] = orm.mapped_column(default=True)
    facts: orm.Mapped[dict] = orm.mapped_column(sa.JSON, default=dict)
    books: orm.Mapped[list["Book"]] = orm.relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "books"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str] = orm.mapped_column(sa.Text)
    cover: orm.Mapped[bytes | None] = orm.mapped_column(sa.LargeBinary)
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("authors.id"))
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")


@pytest.fixture(params=["memory", "directory"])
def engine(request, tmp_path):
    url = "mayfly://" if request.param == "memory" else f"mayfly:///{tmp_path}/data?threads=1"
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()


def test_objects_are_stored_and_loaded(engine):
    Base.metadata.create_all(engine)
    ann = Author(
        name="Ann", born=datetime.date(1970, 1, 2), royalty=decimal.Decimal("12.50"), wakes=datetime.time(6, 30), facts={"a": [1, None]}
    )
    ann.books = [Book(title="One", cover=b"\x00\xff"), Book(title="Two")]
    with orm.Session(engine) as session:
        session.add_all([ann, Author(name="Bob", royalty=0)])
        session.commit()
        assert ann.id == 1 and [book.id for book in ann.books] == [1, 2]
    with orm.Session(engine) as session:
        loaded = session.scalars(sa.select(Author).where(Author.name == "Ann")).one()
        assert (loaded.born, loaded.royalty, loaded.wakes) == (datetime.date(1970, 1, 2), decimal.Decimal("12.50"), datetime.time(6, 30))
        assert loaded.active is True and loaded.facts == {"a": [1, None]}
        assert [book.cover for book in loaded.books] == [b"\x00\xff", None]
        counts = sa.select(Author.name, sa.func.count(Book.id)).outerjoin(Book).group_by(Author.name).order_by(Author.name)
        assert session.execute(counts).all() == [("Ann", 2), ("Bob", 0)]
        session.delete(loaded)
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 0


def test_transactions(engine):
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.insert(Author), [{"name": "Ann", "royalty": 1}, {"name": "Bob", "royalty": 2}])
    with pytest.raises(sa.exc.IntegrityError) as caught:
        with engine.begin() as connection:
            connection.execute(sa.insert(Author), {"name": "Cid", "royalty": 1})
            connection.execute(sa.insert(Author), {"name": "Ann", "royalty": 1})
    assert caught.value.orig.errno == 1062
    with engine.connect() as connection:
        assert connection.scalars(sa.select(Author.name).order_by(Author.name)).all() == ["Ann", "Bob"]
        changed = connection.execute(sa.update(Author).values(royalty=Author.royalty + 1))
        assert changed.rowcount == 2


def test_tables_are_reflected(engine):
    Base.metadata.create_all(engine)
    inspector = sa.inspect(engine)
    assert sorted(inspector.get_table_names()) == ["authors", "books"]
    columns = {column["name"]: column["type"] for column in inspector.get_columns("authors")}
    assert isinstance(columns["name"], sa.String) and columns["name"].length == 40
    assert isinstance(columns["royalty"], sa.Numeric) and columns["royalty"].scale == 2
    (key,) = inspector.get_foreign_keys("books")
    assert key["referred_table"] == "authors"
    assert inspector.get_pk_constraint("authors")["constrained_columns"] == ["id"]
    assert [index["unique"] for index in inspector.get_indexes("authors")] == [True]


def test_pandas_reads_and_writes(engine):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1, 2], "name": ["a", None], "v": [0.5, None]})
    assert frame.to_sql("frames", engine, index=False) == 2
    back = pd.read_sql("SELECT * FROM frames ORDER BY id", engine)
    assert back.to_dict("records")[0] == {"id": 1, "name": "a", "v": 0.5} and back.iloc[1, 1:].isna().all()


def test_intervals_beyond_a_day_stay_intervals(engine):
    with engine.connect() as connection:
        wide = sa.literal_column("CAST('-30:00:00' AS TIME)", sa.Time)
        assert connection.scalar(sa.select(wide)) == -datetime.timedelta(hours=30)


def test_closed_connections_are_replaced(engine):
    with engine.connect() as connection:
        connection.connection.driver_connection.close()
        with pytest.raises(sa.exc.DBAPIError) as caught:
            connection.execute(sa.text("SELECT 1"))
        assert caught.value.connection_invalidated
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT 1")) == 1
    assert issubclass(mayfly.InterfaceError, mayfly.Error)
