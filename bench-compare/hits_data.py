"""Page views of a site for reports.py, in the shape of ClickBench's table: one wide row for each view, few users, addresses and
pages that are seen far more often than the others, and texts that are empty in most rows.

Needs: pip install numpy pyarrow."""

from csv_columns import write

# Columns in words that MySQL and DuckDB share, and the key that Mayfly's durable table has.
TABLES = {
    "hits": (
        "view_id BIGINT NOT NULL, event_time DATETIME NOT NULL, event_date DATE NOT NULL, counter INT NOT NULL, user_id BIGINT NOT NULL,"
        " client_ip BIGINT NOT NULL, region INT NOT NULL, url VARCHAR(300) NOT NULL, referer VARCHAR(300) NOT NULL, title VARCHAR(300) NOT NULL,"
        " phrase VARCHAR(100) NOT NULL, search_engine SMALLINT NOT NULL, advert SMALLINT NOT NULL, source SMALLINT NOT NULL,"
        " width SMALLINT NOT NULL, height SMALLINT NOT NULL, window_width SMALLINT NOT NULL, window_height SMALLINT NOT NULL,"
        " phone SMALLINT NOT NULL, phone_model VARCHAR(40) NOT NULL, is_refresh SMALLINT NOT NULL, is_link SMALLINT NOT NULL,"
        " is_download SMALLINT NOT NULL, not_counted SMALLINT NOT NULL, url_hash BIGINT NOT NULL, referer_hash BIGINT NOT NULL,"
        " platform SMALLINT NOT NULL, browser SMALLINT NOT NULL, age SMALLINT NOT NULL, income SMALLINT NOT NULL, flash VARCHAR(20) NOT NULL",
        "counter, event_date, user_id, event_time, view_id",
    ),
}

HOSTS = ["news", "auto", "maps", "video", "mail", "shop", "weather", "games", "forum", "google", "market", "photo"]
ZONES = ["com", "ru", "org", "net", "de"]
WORDS = (
    "cheap new red small best used old large fast repair price photo online map hotel flat car phone music film recipe book train ticket"
    " weather school doctor garden kitchen window door lamp table boots jacket bread bicycle camera letter summer winter city river"
).split()
SECONDS, DAYS = 86_400, 31
# Day 0 of the log.
FIRST = "2023-07-01"


class Made:
    """Texts made of numbers when a part of them is written; number 0 is the empty text."""

    def __init__(self, make, numbers):
        self.make, self.numbers = make, numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, part):
        numbers = self.numbers[part]
        import numpy

        # Frequent ones are made once.
        different, places = numpy.unique(numbers, return_inverse=True)
        texts = numpy.array(["" if number == 0 else self.make(number) for number in different.tolist()], dtype=object)
        return texts[places]


def mixed(number):
    """A number of 64 bits that follows from another one, as if by chance (splitmix64)."""
    mask = (1 << 64) - 1
    number = number * 0x9E3779B97F4A7C15 & mask
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & mask
    number = (number ^ number >> 27) * 0x94D049BB133111EB & mask
    return number ^ number >> 31


def url(number):
    code = mixed(number)
    host = f"{'www.' if code & 1 else ''}{HOSTS[code % 97 % len(HOSTS)]}{number % 900 or ''}.{ZONES[code // 97 % len(ZONES)]}"
    path = "/".join(WORDS[code >> shift & 31] for shift in range(8, 8 + 6 * (1 + (code >> 4 & 3)), 6))
    return f"http{'s' if code & 2 else ''}://{host}/{path}/{number}"


def title(number):
    code = mixed(number + 7)
    words = [WORDS[(code >> shift) % len(WORDS)] for shift in range(0, 12 + 6 * (code % 7), 6)]
    return " ".join([*words, "google"] if code % 211 == 0 else words)


def phrase(number):
    code = mixed(number + 99)
    return " ".join(WORDS[(code >> shift) % len(WORDS)] for shift in range(0, 12 + 6 * (code % 3), 6)) + f" {number}"


def hits(folder, rows):
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(2027))

    def often_few(count, power=4.0):
        """Numbers from 1 to `count`, the small ones far more often."""
        return (random.random(rows) ** power * count).astype(numpy.int64) + 1

    def where(share, numbers):
        """The numbers in a share of the rows, and 0 in the others."""
        return numpy.where(random.random(rows) < share, numbers, 0)

    def hashed(numbers):
        """Numbers of 63 bits that follow from others."""
        return ((numbers.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)) >> numpy.uint64(1)).astype(numpy.int64)

    user = often_few(max(rows // 6, 10), 2.0)
    pages = often_few(max(rows // 5, 10), 3.0)
    came_from = where(0.8, often_few(max(rows // 4, 10), 3.0))
    second = numpy.sort(random.integers(0, DAYS * SECONDS, rows))
    model = where(0.06, often_few(150))
    searched = where(0.13, often_few(max(rows // 10, 10), 2.0))
    start = numpy.datetime64(FIRST, "s")
    write(
        folder / "hits.csv",
        {
            "view_id": hashed(random.permutation(rows) + 1),
            "event_time": Times(start, second),
            "event_date": (start + second.astype("timedelta64[s]")).astype("datetime64[D]"),
            "counter": often_few(6000),
            "user_id": hashed(user),
            "client_ip": hashed(user // 2 + 5) >> 31,
            "region": often_few(5000),
            "url": Made(url, pages),
            "referer": Made(url, came_from),
            "title": Made(title, where(0.85, pages)),
            "phrase": Made(phrase, searched),
            "search_engine": numpy.where(searched > 0, often_few(30), 0),
            "advert": where(0.006, often_few(18)),
            "source": often_few(10) - 2,
            "width": numpy.array([0, 1024, 1280, 1366, 1440, 1600, 1680, 1920, 2560])[random.integers(0, 9, rows)],
            "height": numpy.array([0, 768, 800, 900, 1050, 1080])[random.integers(0, 6, rows)],
            "window_width": random.integers(0, 2000, rows),
            "window_height": random.integers(0, 1200, rows),
            "phone": numpy.where(model > 0, model % 7 + 1, 0),
            "phone_model": Made("model {}".format, model),
            "is_refresh": where(0.12, 1),
            "is_link": where(0.15, 1),
            "is_download": where(0.003, 1),
            "not_counted": where(0.05, 1),
            "url_hash": hashed(pages),
            "referer_hash": hashed(came_from),
            "platform": often_few(90),
            "browser": often_few(80),
            "age": random.integers(0, 80, rows),
            "income": random.integers(0, 5, rows),
            "flash": Made("{}.0".format, often_few(12)),
        },
    )


class Times:
    """Times, as texts, of seconds after a start."""

    def __init__(self, start, seconds):
        self.start, self.seconds = start, seconds

    def __len__(self):
        return len(self.seconds)

    def __getitem__(self, part):
        import numpy

        times = self.start + self.seconds[part].astype("timedelta64[s]")
        return numpy.char.replace(numpy.datetime_as_string(times), "T", " ")
