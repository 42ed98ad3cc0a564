"""SQLAlchemy 2 over PyMySQL, mysqlclient and mysql-connector-python: Core, ORM, reflection."""

import datetime as dt
import decimal
import enum

import sqlalchemy as sa
from sqlalchemy import exc, orm
from sqlalchemy.dialects import mysql

from checks import DATABASE, HOST, PASSWORD, PORT, SERVER, USER, Round, equal, needs, true

round_ = Round()


class Color(enum.Enum):
    red = 1
    green = 2


class Base(orm.DeclarativeBase):
    pass


tagged = sa.Table(
    "tagged",
    Base.metadata,
    sa.Column("item_id", sa.ForeignKey("item.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag_id", sa.ForeignKey("tag.id"), primary_key=True),
)


class Owner(Base):
    __tablename__ = "owner"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50), unique=True, comment="how it is called")
    items: orm.Mapped[list["Item"]] = orm.relationship(back_populates="owner", cascade="all, delete-orphan")


class Tag(Base):
    __tablename__ = "tag"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    label: orm.Mapped[str] = orm.mapped_column(sa.String(20))


class Item(Base):
    __tablename__ = "item"
    __table_args__ = (
        sa.Index("item_by_made", "made", "price"),
        sa.UniqueConstraint("owner_id", "label", name="item_label"),
        sa.CheckConstraint("price >= 0", name="item_price"),
        {"comment": "what owners have", "mysql_engine": "InnoDB"},
    )
    id: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, primary_key=True)
    owner_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("owner.id", name="item_owner", onupdate="CASCADE"))
    label: orm.Mapped[str] = orm.mapped_column(sa.String(100))
    color: orm.Mapped[Color | None]
    price: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(12, 2), server_default="0.00")
    total: orm.Mapped[decimal.Decimal] = orm.mapped_column(sa.Numeric(14, 2), sa.Computed("price * 2"))
    made: orm.Mapped[dt.datetime | None] = orm.mapped_column(mysql.DATETIME(fsp=6))
    data: orm.Mapped[dict | None] = orm.mapped_column(sa.JSON)
    flag: orm.Mapped[bool] = orm.mapped_column(default=True)
    picture: orm.Mapped[bytes | None] = orm.mapped_column(sa.LargeBinary)
    note: orm.Mapped[str | None] = orm.mapped_column(sa.Text)
    owner: orm.Mapped[Owner] = orm.relationship(back_populates="items")
    tags: orm.Mapped[list[Tag]] = orm.relationship(secondary=tagged)


def engine_of(driver, database=DATABASE, **options):
    url = sa.URL.create(f"mysql+{driver}", USER, PASSWORD or None, HOST, PORT, database, {"charset": "utf8mb4"})
    arguments = {}
    if driver == "mysqlconnector":
        arguments["use_pure"] = True
        if SERVER == "mariadb":
            arguments.update(ssl_disabled=True, collation="utf8mb4_general_ci")
    return sa.create_engine(url, connect_args=arguments, **options)


def add(driver):
    engine = engine_of(driver)

    def check(function):
        function.__name__ = f"{driver}__{function.__name__}"
        return round_.check(function)

    @check
    def setup():
        bare = engine_of(driver, None)
        with bare.begin() as connection:
            connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {DATABASE}")
            connection.exec_driver_sql(f"CREATE DATABASE {DATABASE} DEFAULT CHARACTER SET utf8mb4")
        bare.dispose()

    @check
    def create_all():
        Base.metadata.create_all(engine)
        Base.metadata.create_all(engine)  # Finds them all.
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE VIEW cheap AS SELECT id, label FROM item WHERE price < 10")
        equal(engine.dialect.is_mariadb, SERVER == "mariadb")

    @check
    def inspector_tables_and_views():
        inspector = sa.inspect(engine)
        equal(sorted(inspector.get_table_names()), ["item", "owner", "tag", "tagged"])
        equal(inspector.get_view_names(), ["cheap"])
        true("cheap" in inspector.get_view_definition("cheap").lower() and "price" in inspector.get_view_definition("cheap"), "text")
        true(inspector.has_table("owner") and inspector.has_table("cheap") and not inspector.has_table("nosuch"), "has_table")
        true(DATABASE in inspector.get_schema_names(), "schemas")
        equal(inspector.get_table_comment("item"), {"text": "what owners have"})
        equal(inspector.get_table_options("item")["mysql_engine"], "InnoDB")

    @check
    def inspector_columns():
        columns = {column["name"]: column for column in sa.inspect(engine).get_columns("item")}
        equal(list(columns), ["id", "owner_id", "label", "color", "price", "total", "made", "data", "flag", "picture", "note"])
        equal(columns["color"]["type"].enums, ["red", "green"])
        equal(columns["made"]["type"].fsp, 6)
        equal((columns["price"]["type"].precision, columns["price"]["type"].scale), (12, 2))
        equal(columns["label"]["type"].length, 100)
        equal(columns["total"]["computed"]["persisted"], False)
        true("price" in columns["total"]["computed"]["sqltext"], "generated column")
        true(columns["price"]["default"] in ("'0.00'", "0.00"), "default")
        equal([name for name, column in columns.items() if not column["nullable"] and name != "total"], [
            "id", "owner_id", "label", "price", "flag"])  # fmt: skip
        true(columns["id"]["autoincrement"] is True, "autoincrement")
        owner = {column["name"]: column for column in sa.inspect(engine).get_columns("owner")}
        equal(owner["name"]["comment"], "how it is called")

    @check
    def inspector_keys():
        inspector = sa.inspect(engine)
        equal(inspector.get_pk_constraint("item")["constrained_columns"], ["id"])
        equal(inspector.get_pk_constraint("tagged")["constrained_columns"], ["item_id", "tag_id"])
        keys = inspector.get_foreign_keys("item")
        equal([(k["name"], k["constrained_columns"], k["referred_table"], k["referred_columns"], k["options"]) for k in keys],
              [("item_owner", ["owner_id"], "owner", ["id"], {"onupdate": "CASCADE"})])  # fmt: skip
        keys = sorted(inspector.get_foreign_keys("tagged"), key=lambda key: key["constrained_columns"])
        equal([(k["constrained_columns"], k["referred_table"], k["options"]) for k in keys],
              [(["item_id"], "item", {"ondelete": "CASCADE"}), (["tag_id"], "tag", {})])  # fmt: skip
        indexes = {index["name"]: (index["column_names"], index["unique"]) for index in inspector.get_indexes("item")}
        equal(indexes, {"item_by_made": (["made", "price"], False), "item_label": (["owner_id", "label"], True)})
        equal([(u["name"], u["column_names"]) for u in inspector.get_unique_constraints("item")], [("item_label", ["owner_id", "label"])])
        checks = [c for c in inspector.get_check_constraints("item") if c["name"] == "item_price"]
        true(len(checks) == 1 and "price" in checks[0]["sqltext"], f"{checks}")

    @check
    def reflected_metadata():
        metadata = sa.MetaData()
        metadata.reflect(engine, views=True)
        equal(sorted(metadata.tables), ["cheap", "item", "owner", "tag", "tagged"])
        item = metadata.tables["item"]
        equal({key.target_fullname for key in item.foreign_keys}, {"owner.id"})
        # What was read makes the same table again.
        text = str(sa.schema.CreateTable(metadata.tables["tag"]).compile(engine))
        true("AUTO_INCREMENT" in text and "VARCHAR(20)" in text, text)

    @check
    def sessions():
        with orm.Session(engine) as session:
            owner = Owner(name="Ünal 😀")
            owner.items = [
                Item(label=f"item {n}", color=Color.red if n % 2 else None, price=decimal.Decimal(n) / 4,
                     made=dt.datetime(2024, 2, 29, 1, 2, 3, n), data={"n": n, "list": [1, None, "ü"]}, picture=bytes([n, 0, 255]),
                     note="x" * n)
                for n in range(10)
            ]  # fmt: skip
            owner.items[3].tags = [Tag(label="a"), Tag(label="b")]
            session.add(owner)
            session.commit()
            true(owner.id is not None and all(item.id for item in owner.items), "keys were given")
            equal(owner.items[3].total, decimal.Decimal("1.50"))
        with orm.Session(engine) as session:
            item = session.scalars(sa.select(Item).where(Item.label == "item 3").options(orm.selectinload(Item.tags))).one()
            equal((item.color, item.price, item.made, item.data, item.flag, item.picture, item.note), (
                Color.red, decimal.Decimal("0.75"), dt.datetime(2024, 2, 29, 1, 2, 3, 3), {"n": 3, "list": [1, None, "ü"]}, True,
                b"\x03\x00\xff", "xxx"))  # fmt: skip
            equal([tag.label for tag in item.tags], ["a", "b"])
            equal(item.owner.name, "Ünal 😀")
            if driver != "mysqlconnector" or SERVER != "mariadb":
                found = session.scalars(sa.select(Item.label).where(Item.data["n"].as_integer() > 7).order_by(Item.id)).all()
                equal(found, ["item 8", "item 9"])
            counted = session.execute(sa.select(Item.color, sa.func.count()).group_by(Item.color).order_by(Item.color)).all()
            equal([tuple(row) for row in counted], [(None, 5), (Color.red, 5)])
            session.delete(item)
            session.commit()
            equal(session.scalar(sa.select(sa.func.count()).select_from(tagged)), 0, "deleted with the item")

    @check
    def bulk_insert():
        with orm.Session(engine) as session:
            owner = Owner(name="bulk")
            session.add(owner)
            session.flush()
            session.execute(sa.insert(Item), [{"owner_id": owner.id, "label": f"bulk {n}", "price": n} for n in range(5000)])
            session.commit()
            many = session.scalars(sa.select(Item).where(Item.owner_id == owner.id).order_by(Item.id).execution_options(yield_per=500))
            equal(sum(1 for _ in many), 5000)
            done = session.execute(sa.update(Item).where(Item.owner_id == owner.id, Item.price > 4989).values(note="dear"))
            equal(done.rowcount, 10)
            equal(session.execute(sa.delete(Item).where(Item.note == "dear")).rowcount, 10)
            session.rollback()
            insert = mysql.insert(Tag).values(id=1000, label="one")
            session.execute(insert)
            session.execute(insert.on_duplicate_key_update(label=insert.inserted.label + "!"))
            equal(session.get(Tag, 1000).label, "one!")
            session.rollback()

    @check
    def transactions_and_savepoints():
        with orm.Session(engine) as session:
            session.add(Owner(name="kept"))
            try:
                with session.begin_nested():
                    session.add(Owner(name="kept"))
                raise AssertionError("no error")
            except exc.IntegrityError as error:
                equal(error.orig.args[0], 1062)
            with session.begin_nested():
                session.add(Owner(name="kept too"))
            session.commit()
        with engine.connect() as connection:
            equal(connection.scalar(sa.select(sa.func.count()).where(Owner.name.like("kept%"))), 2)
        serial = engine.execution_options(isolation_level="SERIALIZABLE")
        with serial.connect() as connection:
            equal(connection.get_isolation_level(), "SERIALIZABLE")
            equal(connection.default_isolation_level, "REPEATABLE READ")
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.insert(Tag).values(id=2000, label="at once"))
        with engine.begin() as connection:
            equal(connection.scalar(sa.select(Tag.label).where(Tag.id == 2000)), "at once")
            row = connection.execute(sa.select(Tag).where(Tag.id == 2000).with_for_update()).one()
            equal(row.id, 2000)

    @check
    def errors():
        with engine.connect() as connection:
            for sql, kind, errno in (
                ("SELECT * FROM nosuch", exc.ProgrammingError, 1146),
                ("SELECT nosuch FROM item", (exc.OperationalError, exc.ProgrammingError), 1054),
                ("INSERT INTO item (owner_id, label, flag) VALUES (12345678, 'x', 1)", exc.IntegrityError, 1452),
                ("DELETE FROM owner", exc.IntegrityError, 1451),
                ("UPDATE item SET price = -1", (exc.OperationalError, exc.DatabaseError, exc.IntegrityError), 4025 if SERVER == "mariadb" else 3819),
            ):
                try:
                    connection.exec_driver_sql(sql)
                    raise AssertionError(f"no error from {sql}")
                except exc.DBAPIError as error:
                    true(isinstance(error, kind), f"{type(error)} from {sql}")
                    equal(error.orig.args[0], errno, sql)
                connection.rollback()
            equal(connection.scalar(sa.text("SELECT 1")), 1)

    @check
    def server_side_cursor():
        with engine.connect() as connection:
            rows = connection.execution_options(stream_results=True, max_row_buffer=100).execute(
                sa.select(Item.id, Item.label).where(Item.label.like("bulk %")).order_by(Item.id)
            )
            equal(sum(len(part) for part in rows.partitions(700)), 5000)

    @check
    def pool_replaces_lost_connections():
        pooled = engine_of(driver, pool_size=2, max_overflow=0, pool_pre_ping=True)
        with pooled.connect() as connection:
            number = connection.scalar(sa.text("SELECT CONNECTION_ID()"))
        with engine.connect() as connection:
            connection.exec_driver_sql(f"KILL {number}")
        with pooled.connect() as connection:
            true(connection.scalar(sa.text("SELECT CONNECTION_ID()")) != number, "the same")
        pooled.dispose()

    @check
    def disconnect_is_noticed():
        needs(driver != "mysqlconnector", "its errors of a broken connection are none that the dialect knows")
        pooled = engine_of(driver, pool_size=1, max_overflow=0)
        with pooled.connect() as connection:
            number = connection.scalar(sa.text("SELECT CONNECTION_ID()"))
            with engine.connect() as other:
                other.exec_driver_sql(f"KILL {number}")
            try:
                connection.execute(sa.text("SELECT SLEEP(0.1)"))
                connection.execute(sa.text("SELECT 1"))
                raise AssertionError("no error")
            except exc.DBAPIError as error:
                true(error.connection_invalidated, f"{error}")
        with pooled.connect() as connection:
            equal(connection.scalar(sa.text("SELECT 1")), 1)
        pooled.dispose()

    @check
    def temporary_tables():
        with engine.connect() as connection:
            scratch = sa.Table("scratch", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True),
                               sa.Column("v", sa.Unicode(20)), prefixes=["TEMPORARY"])  # fmt: skip
            scratch.create(connection)
            connection.execute(sa.insert(scratch), [{"id": n, "v": f"ü{n}"} for n in range(1, 100)])
            equal(connection.scalar(sa.select(sa.func.max(scratch.c.id))), 99)
            scratch.drop(connection)

    @check
    def types_of_the_dialect():
        metadata = sa.MetaData()
        table = sa.Table(
            "dialect_types", metadata,
            sa.Column("a", mysql.TINYINT(unsigned=True)), sa.Column("b", mysql.BIGINT(unsigned=True)), sa.Column("c", mysql.DOUBLE),
            sa.Column("d", mysql.YEAR), sa.Column("e", mysql.TIME(fsp=6)), sa.Column("f", mysql.TIMESTAMP(fsp=3), nullable=True),
            sa.Column("g", mysql.SET("x", "y", "z")), sa.Column("h", mysql.BIT(8)), sa.Column("i", mysql.LONGTEXT),
            sa.Column("j", mysql.MEDIUMBLOB), sa.Column("k", sa.Date), sa.Column("l", sa.Interval), sa.Column("m", sa.Uuid),
            sa.Column("n", sa.Float(53)), sa.Column("o", mysql.VARCHAR(10, charset="latin1", collation="latin1_bin")),
        )  # fmt: skip
        metadata.drop_all(engine)
        metadata.create_all(engine)
        import uuid

        row = dict(a=255, b=2**64 - 1, c=1e300, d=2024, e=dt.timedelta(hours=5, microseconds=7), f=dt.datetime(2024, 5, 6, 7, 8, 9, 123000),
                   g={"x", "z"}, h=200, i="ü" * 70000, j=b"\0\xff" * 40000, k=dt.date(2024, 2, 29), l=dt.timedelta(days=3),
                   m=uuid.UUID(int=5), n=0.1, o="grün")  # fmt: skip
        with engine.begin() as connection:
            if driver == "mysqlconnector" and SERVER == "mariadb":
                del row["m"]  # The dialect takes the server for one with UUID parameters.
            connection.execute(sa.insert(table), row)
            got = dict(connection.execute(sa.select(table)).one()._mapping)
            # The dialect gives TIME as a time of day.
            row["e"] = dt.time(5, 0, 0, 7)
            row["h"] = 200
            for name, value in row.items():
                equal(got[name], value, name)
        columns = {column["name"]: column["type"] for column in sa.inspect(engine).get_columns("dialect_types")}
        true(columns["a"].unsigned and columns["b"].unsigned, "unsigned")
        equal((columns["e"].fsp, columns["f"].fsp, sorted(columns["g"].values)), (6, 3, ["x", "y", "z"]))
        equal((columns["o"].charset, columns["o"].collation, columns["o"].length), ("latin1", "latin1_bin", 10))

    @check
    def drop_all():
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP VIEW cheap")
        Base.metadata.drop_all(engine)
        equal(sa.inspect(engine).get_table_names(), ["dialect_types"])
        engine.dispose()


for driver in ("pymysql", "mysqldb", "mysqlconnector"):
    add(driver)
round_.run()
