"""Tables of a shop for reports.py, in the shape of TPC-DS: sales, returns and stocks as facts, in the order of
their dates, and days, stores, items, customers, addresses and promotions as dimensions. Some customers and
promotions of sales are NULL, sales fall on few items and customers more often than on others, and a third of the
sales falls into the last two months of a year, as TPC-DS has it.

Needs: pip install numpy pyarrow."""
from datetime import date, timedelta

from csv_columns import Named, write

# Columns in words that MySQL and DuckDB share, and the key that Mayfly's durable tables have.
TABLES = {
    "day": (
        "d_day INT NOT NULL, d_date DATE NOT NULL, d_year INT NOT NULL, d_quarter INT NOT NULL, d_month INT NOT NULL,"
        " d_week INT NOT NULL, d_name CHAR(9) NOT NULL",
        "d_day",
    ),
    "store": ("s_store INT NOT NULL, s_name VARCHAR(20) NOT NULL, s_city VARCHAR(20) NOT NULL, s_state CHAR(2) NOT NULL", "s_store"),
    "item": (
        "i_item INT NOT NULL, i_id CHAR(16) NOT NULL, i_category VARCHAR(20) NOT NULL, i_class VARCHAR(20) NOT NULL,"
        " i_brand VARCHAR(20) NOT NULL, i_color VARCHAR(10) NOT NULL, i_price DECIMAL(7,2) NOT NULL, i_manager INT NOT NULL",
        "i_item",
    ),
    "address": ("a_address INT NOT NULL, a_city VARCHAR(20) NOT NULL, a_state CHAR(2) NOT NULL, a_zip CHAR(5) NOT NULL", "a_address"),
    "customer": (
        "c_customer INT NOT NULL, c_id CHAR(16) NOT NULL, c_name VARCHAR(20) NOT NULL, c_birth_year INT, c_address INT NOT NULL,"
        " c_preferred CHAR(1) NOT NULL",
        "c_customer",
    ),
    "promotion": ("p_promotion INT NOT NULL, p_email CHAR(1) NOT NULL, p_event CHAR(1) NOT NULL", "p_promotion"),
    "store_sales": (
        "ss_ticket INT NOT NULL, ss_item INT NOT NULL, ss_day INT NOT NULL, ss_store INT NOT NULL, ss_customer INT,"
        " ss_promotion INT, ss_quantity INT NOT NULL, ss_list_price DECIMAL(7,2) NOT NULL, ss_price DECIMAL(7,2) NOT NULL,"
        " ss_profit DECIMAL(9,2) NOT NULL",
        None,
    ),
    "store_returns": (
        "sr_ticket INT NOT NULL, sr_item INT NOT NULL, sr_day INT NOT NULL, sr_store INT NOT NULL, sr_customer INT,"
        " sr_reason INT NOT NULL, sr_quantity INT NOT NULL, sr_amount DECIMAL(7,2) NOT NULL",
        None,
    ),
    "web_sales": (
        "ws_order INT NOT NULL, ws_item INT NOT NULL, ws_day INT NOT NULL, ws_ship_day INT, ws_warehouse INT NOT NULL,"
        " ws_customer INT NOT NULL, ws_quantity INT NOT NULL, ws_price DECIMAL(7,2) NOT NULL, ws_profit DECIMAL(9,2) NOT NULL",
        None,
    ),
    "inventory": ("n_day INT NOT NULL, n_item INT NOT NULL, n_warehouse INT NOT NULL, n_quantity INT", None),
}

FIRST_DAY, DAYS = date(2020, 1, 1), 1827
CATEGORIES = ["Books", "Children", "Electronics", "Home", "Jewelry", "Men", "Music", "Shoes", "Sports", "Women"]
STATES = ["AL", "CA", "GA", "IL", "KS", "MI", "NY", "OH", "TN", "TX", "VA", "WA"]
COLORS = ["azure", "beige", "black", "coral", "green", "ivory", "khaki", "olive", "plum", "red", "tan", "white"]
# Rows of each table at scale 1, where they grow with it.
STORE_SALES, WEB_SALES, RETURNS, CUSTOMERS, ITEMS = 3_000_000, 1_000_000, 300_000, 100_000, 20_000


class Words:
    """Words by their numbers; a number below zero is NULL."""

    def __init__(self, words, numbers):
        self.words, self.numbers = words, numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, part):
        return [self.words[number] for number in self.numbers[part].tolist()]


class Nullable:
    """Numbers; one below zero is NULL."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, part):
        return ["\\N" if number < 0 else str(number) for number in self.numbers[part].tolist()]


class Cents:
    """Amounts of money."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, part):
        return [f"{'-' if number < 0 else ''}{abs(number) // 100}.{abs(number) % 100:02}" for number in self.numbers[part].tolist()]


def retail(folder, scale):
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(2026))
    at_scale = lambda count: max(int(count * scale), 1000)
    items, customers = max(int(ITEMS * min(scale, 1)), 1000), at_scale(CUSTOMERS)
    addresses, stores, promotions, warehouses = customers // 2, 12, 300, 5

    def with_nulls(numbers, share):
        return numpy.where(random.random(len(numbers)) < share, -1, numbers)

    def often_few(count, rows):
        """Numbers up to `count`, the small ones more often."""
        return (random.random(rows) ** 1.5 * count).astype(numpy.int64) + 1

    days = [FIRST_DAY + timedelta(n) for n in range(DAYS)]
    weights = numpy.array([3.0 if day.month > 10 else 1.2 if day.month > 7 else 1.0 for day in days])

    def sale_days(rows):
        return numpy.sort(random.choice(DAYS, rows, p=weights / weights.sum())) + 1

    numbers = lambda count: numpy.arange(1, count + 1)
    write(
        folder / "day.csv",
        {
            "d_day": numbers(DAYS),
            "d_date": [day.isoformat() for day in days],
            "d_year": [day.year for day in days],
            "d_quarter": [(day.month + 2) // 3 for day in days],
            "d_month": [day.month for day in days],
            "d_week": [n // 7 + 1 for n in range(DAYS)],
            "d_name": [day.strftime("%A") for day in days],
        },
    )
    write(
        folder / "store.csv",
        {
            "s_store": numbers(stores),
            "s_name": Named("store %d", numbers(stores)),
            "s_city": Named("city %d", numbers(stores) % 5),
            "s_state": Words(STATES, numbers(stores) % 4),
        },
    )
    category = random.integers(0, len(CATEGORIES), items)
    item_class = category * 10 + random.integers(0, 10, items)
    price = random.integers(50, 10_000, items)
    write(
        folder / "item.csv",
        {
            "i_item": numbers(items),
            "i_id": Named("ITEM%012d", (numbers(items) + 1) // 2),
            "i_category": Words(CATEGORIES, category),
            "i_class": Named("class %d", item_class),
            "i_brand": Named("brand %d", item_class * 10 + random.integers(0, 10, items)),
            "i_color": Words(COLORS, random.integers(0, len(COLORS), items)),
            "i_price": Cents(price),
            "i_manager": random.integers(1, 101, items),
        },
    )
    state = random.integers(0, len(STATES), addresses)
    write(
        folder / "address.csv",
        {
            "a_address": numbers(addresses),
            "a_city": Named("city %d", state * 50 + random.integers(0, 50, addresses)),
            "a_state": Words(STATES, state),
            "a_zip": Named("%05d", state * 800 + random.integers(0, 800, addresses)),
        },
    )
    write(
        folder / "customer.csv",
        {
            "c_customer": numbers(customers),
            "c_id": Named("CUST%012d", numbers(customers)),
            "c_name": Named("name %d", random.integers(0, customers // 4, customers)),
            "c_birth_year": Nullable(with_nulls(random.integers(1930, 2005, customers), 0.03)),
            "c_address": random.integers(1, addresses + 1, customers),
            "c_preferred": Words("NY", random.integers(0, 2, customers)),
        },
    )
    write(
        folder / "promotion.csv",
        {
            "p_promotion": numbers(promotions),
            "p_email": Words("NY", random.integers(0, 2, promotions)),
            "p_event": Words("NY", random.integers(0, 2, promotions)),
        },
    )
    rows = at_scale(STORE_SALES)
    # A ticket has eight lines, of one customer, in one store.
    lines = 8
    tickets = -(-rows // lines)
    ticket = numpy.repeat(numbers(tickets), lines)[:rows]
    of_ticket = lambda values: numpy.repeat(values, lines)[:rows]
    day = of_ticket(sale_days(tickets))
    store = of_ticket(random.integers(1, stores + 1, tickets))
    buyer = of_ticket(with_nulls(often_few(customers, tickets), 0.04))
    item = often_few(items, rows)
    quantity = random.integers(1, 101, rows)
    sold_at = price[item - 1] * random.integers(40, 101, rows) // 100
    write(
        folder / "store_sales.csv",
        {
            "ss_ticket": ticket,
            "ss_item": item,
            "ss_day": day,
            "ss_store": store,
            "ss_customer": Nullable(buyer),
            "ss_promotion": Nullable(with_nulls(random.integers(1, promotions + 1, rows), 0.3)),
            "ss_quantity": quantity,
            "ss_list_price": Cents(price[item - 1]),
            "ss_price": Cents(sold_at),
            "ss_profit": Cents((sold_at - price[item - 1] * 6 // 10) * quantity),
        },
    )
    returned = numpy.sort(random.choice(rows, at_scale(RETURNS), replace=False))
    returned = returned[numpy.argsort(day[returned], kind="stable")]
    kept = numpy.minimum(quantity[returned], random.integers(1, 101, len(returned)))
    write(
        folder / "store_returns.csv",
        {
            "sr_ticket": ticket[returned],
            "sr_item": item[returned],
            "sr_day": numpy.minimum(day[returned] + random.integers(1, 60, len(returned)), DAYS),
            "sr_store": store[returned],
            "sr_customer": Nullable(buyer[returned]),
            "sr_reason": random.integers(1, 36, len(returned)),
            "sr_quantity": kept,
            "sr_amount": Cents(numpy.minimum(sold_at[returned] * kept, 9_999_999)),
        },
    )
    rows = at_scale(WEB_SALES)
    day, item = sale_days(rows), often_few(items, rows)
    quantity = random.integers(1, 101, rows)
    sold_at = price[item - 1] * random.integers(40, 101, rows) // 100
    write(
        folder / "web_sales.csv",
        {
            "ws_order": numbers(rows) // 6 + 1,
            "ws_item": item,
            "ws_day": day,
            "ws_ship_day": Nullable(with_nulls(numpy.minimum(day + random.integers(1, 120, rows), DAYS), 0.01)),
            "ws_warehouse": random.integers(1, warehouses + 1, rows),
            "ws_customer": often_few(customers, rows),
            "ws_quantity": quantity,
            "ws_price": Cents(sold_at),
            "ws_profit": Cents((sold_at - price[item - 1] * 6 // 10) * quantity),
        },
    )
    # Each fourth week, what a warehouse has of each second item.
    weeks, stocked = numpy.arange(1, DAYS, 28), numpy.arange(1, items + 1, 2)
    count = len(weeks) * len(stocked)
    write(
        folder / "inventory.csv",
        {
            "n_day": numpy.repeat(weeks, len(stocked)),
            "n_item": numpy.tile(stocked, len(weeks)),
            "n_warehouse": random.integers(1, warehouses + 1, count),
            "n_quantity": Nullable(with_nulls(random.integers(0, 1000, count), 0.05)),
        },
    )
