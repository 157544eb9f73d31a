"""An order service, as something to profile: orders come as JSON, an extension in C (pricing.c) computes their prices
and calls back for the discount of the customer. That is where the time goes: find_customer() looks through the list of
all customers, for every line of every order.

    python3 examples/orders.py [ORDERS]
"""
import json
import sys

import pricing

CUSTOMERS = 1200
PRODUCTS = 300


class Customer:
    def __init__(self, number):
        self.number = number
        self.loyalty = number % 7
        self.spent = 0


class Shop:
    def __init__(self):
        self.customers = [Customer(number) for number in range(CUSTOMERS)]
        self.prices = [100 + 37 * number % 900 for number in range(PRODUCTS)]
        self.revenue = 0

    def find_customer(self, number):
        for customer in self.customers:
            if customer.number == number:
                return customer
        raise KeyError(number)

    def discount(self, number, cents):
        """In percent. Called by pricing.total() for each line."""
        customer = self.find_customer(number)
        customer.spent += cents
        return min(customer.loyalty + customer.spent // 10_000_000, 20)

    def price(self, order):
        lines = [(self.prices[line["product"]], line["count"], line["weight"]) for line in order["lines"]]
        return pricing.total(lines, order["customer"], self.discount)

    def handle(self, request):
        order = json.loads(request)
        cents = self.price(order)
        self.revenue += cents
        return json.dumps({"order": order["id"], "receipt": receipt(order, cents)})


def receipt(order, cents):
    rows = ["%3d x product %-4d" % (line["count"], line["product"]) for line in order["lines"]]
    rows.append("total %d.%02d" % divmod(cents, 100))
    return rows


def requests(count):
    state = 1
    for number in range(count):
        lines = []
        for _ in range(8):
            state = (state * 1103515245 + 12345) % 2**31
            lines.append({"product": state % PRODUCTS, "count": 1 + state % 9, "weight": state % 5000,
                          "note": "wrapped" if state % 3 else "as a gift", "options": [state % 4, state % 5]})
        yield json.dumps({"id": number, "customer": state % CUSTOMERS, "lines": lines})


def main():
    shop = Shop()
    size = 0
    for request in requests(int(sys.argv[1]) if len(sys.argv) > 1 else 16000):
        size += len(shop.handle(request))
    print("%d bytes of answers, revenue %d.%02d" % (size, *divmod(shop.revenue, 100)))


main()
