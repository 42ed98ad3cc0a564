"""The fixtures of the plugin for pytest, in a pytest of their own. pytest finds the plugin by the package's entry point."""

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def passes(pytester):
    def run(text, conftest=""):
        pytester.makeconftest(conftest)
        pytester.makepyfile(text)
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
        result.assert_outcomes(passed=text.count("def test_"))

    return run


def test_each_test_has_a_database_of_its_own(passes):
    passes(
        """
        import pymysql

        seen = []

        def check(database):
            with pymysql.connect(**database.options).cursor() as cursor:
                cursor.execute("SHOW TABLES")
                assert cursor.fetchall() == ()
                cursor.execute("SELECT DATABASE()")
                assert cursor.fetchone() == (database.name,)
                assert database.url.endswith(f"@127.0.0.1:{database.server.port}/{database.name}")
                # Neither committed nor closed.
                cursor.execute("CREATE TABLE t (a INT)")
                cursor.execute("INSERT INTO t VALUES (1)")
            seen.append(database)

        def test_one(mayfly_database):
            check(mayfly_database)

        def test_another(mayfly_database):
            check(mayfly_database)

        def test_one_server(mayfly_server):
            assert {database.server for database in seen} == {mayfly_server}
            with mayfly_server.connect() as connection:
                names = {name for (name,) in connection.execute("SHOW DATABASES")}
            assert not names & {database.name for database in seen}
            assert len({database.name for database in seen}) == 2
        """
    )


def test_transactions_that_tests_leave_open_are_ended(passes):
    passes(
        """
        import pymysql

        kept = []

        def test_by_a_driver(mayfly_database):
            client = pymysql.connect(**mayfly_database.options)
            kept.append(client)
            with client.cursor() as cursor:
                cursor.execute("CREATE TABLE t (a INT)")
                cursor.execute("INSERT INTO t VALUES (1)")

        def test_in_the_process(mayfly_database):
            connection = mayfly_database.connect()
            kept.append(connection)
            connection.execute("CREATE TABLE t (a INT)")
            connection.execute("INSERT INTO t VALUES (1)")

        def test_the_next_one(mayfly_database):
            mayfly_database.connect().execute("SELECT 1")
        """
    )


def test_options_of_the_server(passes):
    passes(
        """
        def test_variable(mayfly_database):
            row = mayfly_database.connect().execute("SELECT @@max_connections").fetchone()
            assert row == (33,)
        """,
        """
        import pytest

        @pytest.fixture(scope="session")
        def mayfly_server_options():
            return {"variables": {"max_connections": 33}}
        """,
    )
