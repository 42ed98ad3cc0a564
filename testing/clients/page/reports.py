"""The reports that mayfly writes as pages, in the browser: what-if, reproduce, advise and tune.

Small ones are made for the checks; where pictures are wanted, those of a full size.
"""

import os
import pathlib
import shutil
import subprocess
import time

TESTS = pathlib.Path(__file__).resolve().parents[3] / "tests"

HEADLINE = "SELECT count(*), sum(cnt) FROM (SELECT count(*) cnt, c FROM gtest GROUP BY c ORDER BY NULL) g"

# Article 0's table: 5 % of the values are there twice.
TABLE = """SET cte_max_recursion_depth = 2000000;
CREATE TABLE gtest (i INT UNSIGNED NOT NULL, c CHAR(50) NOT NULL) DEFAULT CHARSET=latin1;
INSERT INTO gtest WITH RECURSIVE n AS (SELECT 0 n UNION ALL SELECT n + 1 FROM n WHERE n < {rows} - 1)
  SELECT CRC32(n) % 100000, SHA1(IF(n % 20 = 19, n - 19, n)) FROM n;
"""


def commands(home, is_full):
    """The names of the reports, and the arguments that make them."""
    table = home / "table.sql"
    table.write_text(TABLE.format(rows=1_000_000 if is_full else 20_000))
    page = lambda name: str(home / f"{name}.html")
    quick = [] if is_full else ["--quick"]
    # The report names its files as they were given.
    shutil.copy(TESTS / "advise/logs/mariadb-full.log", home / "slow.log")
    shutil.copy(TESTS / "advise/schema.sql", home / "schema.sql")
    return {
        "what-if": ["what-if", "--query", HEADLINE, "--runs", "3", "--html", page("what-if"), str(table)],
        "advise": ["advise", "--schema", "schema.sql", "--format", "html", "--output", page("advise"), "slow.log"],
        "tune": ["tune", "--html", page("tune"), *(["--seconds", "60"] if is_full else ["--quick", "--seconds", "2", "--size", "16M"])],
        "reproduce": ["reproduce", "--html", page("reproduce"), *quick],
    }


def make(home, is_full):
    """The addresses of the reports, by their names."""
    made = {}
    for name, arguments in commands(home, is_full).items():
        done = subprocess.run([os.environ["ROUND_PROGRAM"], *arguments], cwd=home, capture_output=True, text=True, timeout=800)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(arguments)}: {done.stderr[-500:]}")
        made[name] = (home / f"{name}.html").as_uri()
    return made


def problems(browser, checks, reports, picture):
    """What readers with other eyes lack, in light and dark, on large and small windows."""
    found = []
    for name, address in reports.items():
        browser.open(address)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            for width, height in ((1280, 1000), (360, 740)):
                browser.size(width, height)
                time.sleep(0.3)
                # A report has no tabs.
                lines = [line for line in browser.run(checks, width) if line != "not one tab is selected"]
                found += [f"{name} {scheme} {width}: {line}" for line in lines]
        browser.size(1280, 1000)
        browser.scheme("light")
        time.sleep(0.3)
        if name == "reproduce":
            # What the machine is stands above.
            browser.run("document.querySelector('h2').scrollIntoView()")
        picture(browser, f"{name}-light")
    return found
