"""The suite of the live page: headless Chromium clicks and types through every view of a real server, in light and dark, on a large
and on a small window; and reads the reports that are pages.

ROUND_PROGRAM is the `mayfly` to start. PAGE_EXAMPLE is a program that serves the page over a source without an engine instead
(`cargo build -p mayfly-http --example fake`). PAGE_PICTURES is a directory for pictures, as `docs/images` has them.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

import reports
from browser import Browser

HERE = pathlib.Path(__file__).resolve().parent
CHECKS = (HERE / "checks.js").read_text()
VIEWS = ["now", "statements", "findings", "explain", "settings"]
PICTURES = os.environ.get("PAGE_PICTURES")
PICTURE_BYTES = 200_000


class Skip(Exception):
    pass


class Page:
    """A server with the page, and its workload."""

    def __init__(self, home):
        self.workload = None
        example = os.environ.get("PAGE_EXAMPLE")
        self.is_real = not example
        if example:
            arguments = [example]
        else:
            arguments = [os.environ["ROUND_PROGRAM"], "serve", "--ephemeral", "--insecure", "--port", "0", "--http", "0", "--http-metrics-digests", "5"]
        self.log = open(home / "log", "w+b")
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, cwd=home)
        self.address = self.wait_for(r"live page: (http://\S+)")
        self.origin, self.token = self.address.split("/#token=")
        if self.is_real:
            from workload import Workload

            self.workload = Workload("127.0.0.1", int(self.wait_for(r"ready for connections\. port: (\d+)")))

    def wait_for(self, pattern):
        for _ in range(600):
            found = re.search(pattern, pathlib.Path(self.log.name).read_text(errors="replace"))
            if found:
                return found[1]
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"no line {pattern!r}:\n{pathlib.Path(self.log.name).read_text(errors='replace')[-2000:]}")

    def ask(self, path, body=None, token=None):
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.origin + path, data, headers), timeout=60) as answer:
            return answer.read().decode()

    def stop(self):
        if self.workload:
            self.workload.ended.set()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


def equal(got, expected, what=""):
    if got != expected:
        raise AssertionError(f"{what}: got {got!r}, expected {expected!r}")


def is_true(condition, what):
    if not condition:
        raise AssertionError(what)


checks = []


def check(name):
    return lambda work: checks.append((name, work)) or work


def view(browser, name):
    browser.click(f"#tab-{name}")
    browser.until("return document.querySelector(`#tab-${arguments[0]}`).ariaSelected === 'true'", name)


def rows(browser, label):
    script = "return [...document.querySelectorAll(`table[aria-label='${arguments[0]}'] tbody tr`)].filter((it) => it.checkVisibility()).length"
    return browser.run(script, label)


def picture(browser, name, full=False):
    """A picture of the page for the documentation."""
    picture_of(browser, f"live-page-{name}", full)


def picture_of(browser, name, full=False):
    """A picture for the documentation, with as few colours as it needs."""
    if not PICTURES:
        return
    from PIL import Image

    path = pathlib.Path(PICTURES) / f"{name}.png"
    browser.picture(path, full)
    Image.open(path).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    is_true(path.stat().st_size < PICTURE_BYTES, f"{path.name} has {path.stat().st_size} bytes")


@check("token: the page asks for it, and takes it out of the address")
def token(browser, page):
    browser.open(page.origin + "/")
    browser.seen("dialog.token h2", "Token")
    browser.type("a wrong token")
    browser.press("Enter")
    time.sleep(0.5)
    browser.seen("dialog.token h2", "Token")
    browser.type(page.token)
    browser.press("Enter")
    browser.seen("#state-text", "Live")
    browser.run("sessionStorage.clear()")
    # A fragment alone loads nothing anew.
    browser.open("about:blank")
    browser.open(page.address)
    browser.seen("#state-text", "Live")
    equal(browser.run("return location.hash"), "#now", "the address")
    is_true(browser.run("return !document.documentElement.outerHTML.includes(arguments[0])", page.token), "the token is in the page")


@check("now: temporary tables with their bars, sessions, totals, chart")
def now(browser, page):
    browser.until("return document.querySelectorAll(`table[aria-label='Temporary tables'] tbody tr`).length >= 3", seconds=60)
    browser.until("return document.querySelectorAll('.chart polyline').length > 0", seconds=30)
    shown = browser.run("return [...document.querySelectorAll(`table[aria-label='Temporary tables'] tbody tr`)].map((it) => Number(it.dataset.key))")
    known = [table["id"] for table in json.loads(page.ask("/api/overview"))["tables"]]
    is_true(set(shown) & set(known), f"none of {shown} is among {known}")
    browser.until("return [...document.querySelectorAll('.meter.memory .track > div')].some((it) => it.offsetWidth > 1)")
    if page.is_real:
        # Statements as they run, and each table against the limit of its own session.
        living = [table for table in json.loads(page.ask("/api/overview"))["tables"] if table["purpose"] != "user"]
        is_true(any("0.05" in (table["statement"] or "") for table in living), f"no statement with its literals in {living}")
        is_true(any(table["memory_limit"] == 2 * 1024 * 1024 for table in living), f"other limits in {living}")
    browser.until("return [...document.querySelectorAll('.meter.disk .track > div')].some((it) => it.offsetWidth > 1)", seconds=60, what="no table has gone to disk")
    is_true(rows(browser, "Sessions") >= 3, "too few sessions")
    equal(browser.run("return [...document.querySelectorAll('.tile dt')].map((it) => it.textContent)"),
          ["Temporary memory", "Temporary disk", "Temporary tables now", "Temporary tables made", "Statements"])  # fmt: skip
    is_true(browser.run("return parseFloat(document.querySelector('.tile .value').textContent) > 0"), "no memory")
    browser.until("return document.querySelectorAll('.chart polyline').length === 2", seconds=30, what="no line of disk")
    # A chart of some length.
    if PICTURES:
        time.sleep(100)
    picture(browser, "now-light")


@check("now: by session and by statement")
def grouped(browser, page):
    alive = rows(browser, "Temporary tables")
    browser.click("button", "By session")
    browser.seen("th", "Tables")
    is_true(0 < rows(browser, "Temporary tables") <= max(alive, rows(browser, "Temporary tables")), "no group")
    browser.click("button", "By statement")
    browser.until("return ![...document.querySelectorAll(`table[aria-label='Temporary tables'] th`)].some((it) => it.textContent === 'Session')")
    is_true(rows(browser, "Temporary tables") > 0, "no statement")
    browser.click("button", "Each")
    browser.click("button", "1 h")
    browser.until("return document.querySelectorAll('.chart polyline').length > 0")
    browser.click("button", "5 min")
    browser.click("table[aria-label='Temporary tables'] tbody tr td.sql")
    browser.seen("dialog h2", "Temporary table ")
    browser.seen("dialog dt", "Memory at most")
    browser.press("Enter")
    browser.until("return !document.querySelector('dialog')")
    browser.click("th button", "Rows")
    equal(browser.run("return document.querySelector('th[data-column=rows]').ariaSort"), "descending")
    numbers = "return [...document.querySelectorAll(`table[aria-label='Temporary tables'] td[data-title=Rows] span`)].map((it) => Number(it.title.replaceAll(',', '')))"
    found = browser.run(numbers)
    equal(found, sorted(found, reverse=True), "rows in order")


@check("statements: ordered, filtered, opened, with their plan")
def statements(browser, page):
    view(browser, "statements")
    answer = json.loads(page.ask("/api/statements?order=seconds"))
    if not answer["statements"]:
        browser.seen(".empty", "No statement")
        browser.seen(".note", "Not shown")
        raise Skip(answer["notes"][0] if answer["notes"] else "no statement")
    browser.until("return document.querySelectorAll(`table[aria-label='Statements'] tbody tr`).length >= 3")
    picture(browser, "statements")
    browser.click("th button", "Temp. tables")
    browser.until("return document.querySelector('th[aria-sort]')?.dataset.column === 'temporary_tables'")
    count = rows(browser, "Statements")
    browser.click("input[type=search]")
    browser.type("group by")
    browser.until("return document.querySelectorAll(`table[aria-label='Statements'] tbody tr`).length < arguments[0]", count)
    is_true(rows(browser, "Statements") > 0, "nothing is found")
    browser.click("table[aria-label='Statements'] tbody tr")
    browser.seen(".detail dt", "Temporary tables")
    browser.press("Escape")
    browser.until("return document.querySelector('.detail').hidden")
    browser.run("const it = document.querySelector('input[type=search]'); it.value = ''; it.dispatchEvent(new Event('input'))")


@check("findings: those of the advisor, or that there is none")
def findings(browser, page):
    view(browser, "findings")
    report = json.loads(page.ask("/api/findings"))["report"]
    if report is None:
        browser.seen("main p", "This server has no advisor")
        raise Skip("no advisor")
    found = [finding for statement in report["statements"] for finding in statement["findings"]]
    if found:
        browser.seen(".finding h3", found[0]["evidence"][:20])
        browser.seen("#tab-findings .count", str(len(found)))
        picture(browser, "findings")
    else:
        browser.seen("main p", "Nothing to change")


REPORT = "SELECT product_id, COUNT(*) FROM orders GROUP BY product_id"


@check("explain: a picture of the operators and of their temporary tables")
def explain(browser, page):
    view(browser, "explain")
    database = ""
    text = REPORT
    if page.is_real:
        from workload import DATABASE, REPORT as text

        database = DATABASE
    browser.click("#explain-sql")
    browser.type(text.replace("\n", " "))
    browser.click("#explain-database")
    browser.type(database or "shop")
    browser.click("form button", "Explain")
    browser.seen("[role=tree] [role=treeitem]")
    browser.seen(".table-text", "Temporary table")
    is_true(browser.run("return document.querySelectorAll('[role=treeitem]').length >= 3"), "too few operators")
    is_true(browser.run("const boxes = [...document.querySelectorAll('.plan .box')].map((it) => it.getBoundingClientRect()); return boxes.every((a, i) => boxes.every((b, j) => i === j || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top))"),
            "operators lie on each other")  # fmt: skip
    is_true(browser.run("return [...document.querySelectorAll('.plan [role=treeitem]')].every((item) => { const box = item.querySelector('.box').getBoundingClientRect(); return [...item.querySelectorAll('text')].every((it) => { const own = it.getBoundingClientRect(); return own.left >= box.left && own.right <= box.right + 1 && own.bottom <= box.bottom + 1; }); })"),
            "a text is outside of its operator")  # fmt: skip
    browser.seen("aside h3", "Its temporary table")
    browser.size(1440, 1120)
    picture(browser, "explain")
    browser.size(1440, 900)
    browser.run("const it = document.querySelector('#explain-sql'); it.value = 'SELEC 1'")
    browser.click("form button", "Explain")
    browser.seen(".note.bad", "1064")


@check("explain: measured")
def measured(browser, page):
    text = REPORT
    if page.is_real:
        from workload import REPORT as text
    browser.run("document.querySelector('.note.bad')?.remove(); document.querySelector('#explain-sql').value = arguments[0]", text)
    browser.click("label.check")
    browser.click("form button", "Explain")
    browser.until("return document.querySelector('.plan') || document.querySelector('.note.bad')", seconds=60)
    if browser.run("return document.querySelector('.note.bad')?.textContent"):
        raise Skip(browser.run("return document.querySelector('.note.bad').textContent"))
    browser.seen(".chip", "ran ")
    browser.size(1440, 1120)
    picture(browser, "explain-measured")
    browser.size(1440, 900)


@check("explain: a change is not measured in silence, and the databases are listed")
def changes_nothing(browser, page):
    browser.until("return document.querySelectorAll('#explain-databases option').length > 0")
    if not page.is_real:
        raise Skip("only a server measures")
    from workload import DATABASE

    is_true(browser.run("return [...document.querySelectorAll('#explain-databases option')].some((it) => it.value === arguments[0])", DATABASE), "the database is not listed")
    browser.run("document.querySelector('#explain-sql').value = 'DELETE FROM orders WHERE id < 5'; document.querySelector('#explain-database').value = arguments[0]", DATABASE)
    is_true(browser.run("return document.querySelector('#explain-analyze').checked"), "it is not to be measured")
    browser.click("form button", "Explain")
    browser.seen(".note", "Nothing was changed")
    browser.seen(".chip", "found its rows in")


@check("settings: values and what they mean")
def settings(browser, page):
    view(browser, "settings")
    browser.seen("td code", "tmp_table_size")
    row = browser.run("return [...document.querySelectorAll('tr')].find((it) => it.dataset.key === 'tmp_table_size').textContent")
    is_true(re.search(r"\d+ MiB", row), f"no size in {row}")
    is_true(len(row) > 50, f"no meaning in {row}")


@check("keyboard: everything without a pointer")
def keyboard(browser, page):
    browser.open("about:blank")
    browser.open(page.address)
    browser.seen("#state-text", "Live")
    browser.press("Tab")
    equal(browser.focused(), "Skip to the content")
    browser.press("Enter")
    equal(browser.focused(), "main")
    # Tabs: one of them is in the order of Tab, the arrow keys lead to the others.
    browser.run("document.querySelector('.skip').focus()")
    browser.press("Tab")
    equal(browser.focused(), "tab-now")
    browser.press("Right")
    equal(browser.run("return [document.activeElement.id, location.hash]"), ["tab-statements", "#statements"])
    browser.press("End")
    equal(browser.run("return location.hash"), "#settings")
    browser.press("1")
    equal(browser.run("return [document.activeElement.id, location.hash]"), ["tab-now", "#now"])
    # A visible ring.
    is_true(browser.run("return getComputedStyle(document.activeElement).outlineStyle !== 'none'"), "no ring around the focus")
    # The chart.
    browser.until("return document.querySelectorAll('.chart polyline').length > 0", seconds=30)
    reached(browser, "return document.activeElement.matches('.chart')")
    browser.press("Left", "Left")
    browser.seen(".legend .muted", ":")
    # The rows of a table.
    browser.until("return document.querySelectorAll(`table[aria-label='Sessions'] tbody tr`).length >= 3")
    reached(browser, "return document.activeElement.matches(`table[aria-label='Sessions'] tbody tr`)")
    browser.press("Home")
    first = browser.focused()
    browser.press("Down")
    second = browser.focused()
    is_true(first != second, "the arrow key stays")
    # What has the focus keeps it when the numbers change.
    time.sleep(2.5)
    equal(browser.focused(), second, "after an update")
    browser.press("Delete")
    browser.seen("dialog h2", "Kill")
    browser.press("Escape")
    browser.until("return !document.querySelector('dialog')")
    browser.press("?")
    browser.seen("dialog h2", "Keys")
    browser.press("Escape")
    browser.press("d")
    browser.until("return document.documentElement.dataset.theme === 'dark'")
    browser.press("d")
    browser.until("return document.documentElement.dataset.theme === 'light'")
    browser.run("localStorage.clear(); delete document.documentElement.dataset.theme")
    browser.press("p")
    browser.seen("#state-text", "Paused")
    # A request that was on its way is answered, and counted, after the page is paused.
    requests = lambda: browser.run("return performance.getEntriesByType('resource').length")
    before, deadline = requests(), time.monotonic() + 20
    while time.sleep(2.5) or (now := requests()) != before:
        is_true(now <= before + 1 and time.monotonic() < deadline, f"requests of a page that is paused: {before}, then {now}")
        before = now
    browser.press("p")
    browser.seen("#state-text", "Live")
    # Explain.
    browser.press("4", "/")
    equal(browser.focused(), "Statement")
    browser.type("SELECT 1 FROM information_schema.ENGINES GROUP BY ENGINE")
    browser.press("Control+Enter")
    browser.seen("[role=treeitem]")
    reached(browser, "return document.activeElement.matches('[role=treeitem]')")
    browser.press("Home")
    top = browser.focused()
    browser.press("Down")
    is_true(browser.focused() != top, "the arrow key stays at the root")
    browser.press("Up")
    equal(browser.focused(), top)


def reached(browser, condition):
    """Tab leads there."""
    for _ in range(60):
        if browser.run(condition):
            return
        browser.press("Tab")
    raise AssertionError(f"Tab does not lead there: {condition}")


@check("readers with other eyes: names, roles, contrast, widths; light and dark, large and small")
def accessible(browser, page):
    problems = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        for width, height in ((1440, 900), (360, 740)):
            browser.size(width, height)
            for name in VIEWS:
                view(browser, name)
                time.sleep(1.2)
                if name == "explain" and not browser.run("return !!document.querySelector('.plan')"):
                    browser.run("const it = document.querySelector('#explain-sql'); it.value = arguments[0]", REPORT)
                    browser.click("form button", "Explain")
                    time.sleep(0.8)
                problems += [f"{scheme} {width} {name}: {line}" for line in browser.run(CHECKS, width)]
                if width == 360 and scheme == "dark" and name == "now":
                    picture(browser, "small")
    browser.size(1440, 900)
    if PICTURES:
        view(browser, "now")
        time.sleep(3)
        picture(browser, "now-dark")
    browser.scheme("light")
    is_true(not problems, f"{len(problems)} problems: " + "; ".join(problems[:40]))


@check("readers with other eyes: the checks find what is wrong")
def checks_work(browser, page):
    browser.run("const it = document.createElement('p'); it.id = 'faint'; it.textContent = 'faint'; it.style.color = '#ddd'; document.querySelector('main').append(it); const other = document.createElement('button'); it.append(other)")
    found = browser.run(CHECKS, 1440)
    browser.run("document.querySelector('#faint').remove()")
    is_true(any("contrast" in line and "#faint" in line for line in found), f"no contrast in {found}")
    is_true(any(line.startswith("no name: button") for line in found), f"no name in {found}")


@check("motion: none where the system wants none")
def motion(browser, page):
    browser.scheme("light", reduced=True)
    equal(browser.run("return getComputedStyle(document.querySelector('.dot')).animationName"), "none")
    browser.scheme("light")
    equal(browser.run("return getComputedStyle(document.querySelector('.dot')).animationName"), "beat")


@check("kill: a statement ends, after a question")
def kill(browser, page):
    view(browser, "now")
    victim = "SLEEP(600)" if page.is_real else "customer_id"
    label = "table[aria-label='Sessions'] tbody tr"
    browser.seen(label, victim)
    script = "return [...document.querySelectorAll(arguments[0])].find((it) => it.textContent.includes(arguments[1])).dataset.key"
    session = browser.run(script, label, victim)
    browser.click(f"button[aria-label='Kill the statement of session {session}']")
    browser.seen("dialog h2", f"Kill statement {session}?")
    browser.click("dialog button", "Cancel")
    browser.seen(label, victim)
    browser.click(f"button[aria-label='Kill the statement of session {session}']")
    browser.seen("dialog pre", victim)
    browser.click("dialog button.danger")
    browser.seen("#notices div", f"KILL QUERY {session}")
    browser.until("return ![...document.querySelectorAll(arguments[0])].some((it) => it.dataset.key === arguments[2] && it.textContent.includes(arguments[1]))", label, victim, session)
    if page.is_real:
        is_true(page.workload.killed.wait(10), "the statement has not ended")


@check("metrics: what Prometheus' own parser reads")
def metrics(browser, page):
    families = {family.name: family for family in text_string_to_metric_families(page.ask("/metrics"))}
    for name, kind in (("mayfly_temporary_tables", "gauge"), ("mayfly_created_temporary_tables", "counter"), ("mayfly_limit_bytes", "gauge")):
        equal(families[name].type, kind, name)
        is_true(families[name].documentation, f"{name} has no text")
    is_true(families["mayfly_created_temporary_tables"].samples[0].value > 0, "no temporary table is counted")
    readable = {sample.labels["relation"]: sample.value for sample in families["mayfly_relation_readable"].samples}
    is_true(readable["global_status"] == 1 and readable["temp_tables"] == 1, f"not readable: {readable}")
    try:
        page.ask("/metrics", token="0" * 32)
        raise AssertionError("any token will do")
    except urllib.error.HTTPError as error:
        equal(error.code, 401)


@check("nothing from elsewhere, and no complaint")
def quiet(browser, page):
    browser.gather()
    asked = [url for url in browser.requests if not url.startswith((page.origin + "/", "about:", "data:"))]
    equal(asked, [], "requests to others")
    is_true(any("/api/overview" in url for url in browser.requests), "requests were not seen")
    is_true(not any(page.token in url for url in browser.requests), "the token is in an address that was asked for")
    # The wrong token and the wrong statement were meant.
    expected = re.compile(r"status of (401|422) ")
    equal([line for line in browser.problems if not expected.search(line)], [], "complaints of the browser")


@check("reports: pages of their own, for readers with other eyes too")
def read_reports(browser, page):
    if not page.is_real:
        raise Skip("they are made by the program")
    with tempfile.TemporaryDirectory(prefix="mayfly-reports.") as home:
        made = reports.make(pathlib.Path(home), bool(PICTURES))
        picture = lambda browser, name: picture_of(browser, f"report-{name}")
        problems = reports.problems(browser, CHECKS, made, picture)
        is_true(not problems, f"{len(problems)} problems: " + "; ".join(problems[:40]))
        browser.gather()
        asked = [url for url in browser.requests if not url.startswith((page.origin + "/", "about:", "data:", "file://"))]
        equal(asked, [], "requests to others")


def main():
    if not os.environ.get("ROUND_PROGRAM") and not os.environ.get("PAGE_EXAMPLE"):
        print("skip all: the server is not a Mayfly that was started here")
        return
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mayfly-page.") as home:
        page = Page(pathlib.Path(home))
        browser = None
        limit = threading.Timer(1800 if PICTURES else 900, page.process.kill)
        limit.daemon = True
        limit.start()
        try:
            browser = Browser(os.environ.get("PAGE_CHROMIUM", "/usr/bin/chromium"), os.environ.get("PAGE_DRIVER", "/usr/bin/chromedriver"))
            browser.scheme("light")
            only = os.environ.get("ROUND_CHECK", "")
            for name, work in checks:
                if only and not name.startswith(("token", only)):
                    continue
                try:
                    work(browser, page)
                    print(f"ok {name}", flush=True)
                except Skip as reason:
                    print(f"skip {name}: {str(reason).splitlines()[0]}", flush=True)
                except Exception as error:
                    failed += 1
                    where = traceback.extract_tb(error.__traceback__)[1:2]
                    line = where[0].lineno if where else 0
                    print(f"FAIL {name}: line {line}: {str(error).splitlines()[0] if str(error) else repr(error)}", flush=True)
        finally:
            if browser:
                browser.close()
            page.stop()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
