#!/usr/bin/env python3
"""Write the CSV logs that experiments/sentences/real_logs is about: convert_logs.py [SOURCE [TARGET]].

Standard library only.

XES logs: one line per event, in file order; event attributes that no rule needs are left out; the string
"EMPTY" in org:group becomes an empty cell. Timestamps keep their offset, except in the road traffic
sample, whose times are all midnight: they are written as dates. CSV logs are unpacked as they are.

Order management (OCEL 2.0, SQLite), case notion 'orders': a case is one order. An event belongs to an
order when it names the order itself (place, confirm, remind), names an item of it (order 'comprises'
item: pick, out of stock) or names a package with an item of it (package 'contains' item: create, send,
failed delivery). A package holds items of several orders, so a package event stands once in each of these
orders and the CSV has more lines than the log events. resource is the one employee of the event (for
'send package' the forwarder; the shipper has a column of his own); 'place order', 'payment reminder' and
'failed delivery' name no employee. role is the employee's department.
"""

import csv
import gzip
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

SOURCE = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/eventlogs")
LOGS = Path(sys.argv[2] if len(sys.argv) > 2 else "build/real_logs")


def local(tag):
    return tag.rsplit("}", 1)[-1]


def opened(path):
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def write(name, header, rows):
    with (LOGS / name).open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"{name}: {len(rows)} lines")


def traces(path):
    """(trace attributes, list of event attributes) for every trace of an XES file."""
    with opened(path) as stream:
        for _, node in ET.iterparse(stream):
            if local(node.tag) == "trace":
                attributes = {c.get("key"): c.get("value") for c in node if c.get("key")}
                events = [{c.get("key"): c.get("value") for c in e} for e in node if local(e.tag) == "event"]
                yield attributes, events
                node.clear()


def receipt():
    rows = []
    for trace, events in traces(SOURCE / "real/receipt.xes.gz"):
        for e in events:
            group = e.get("org:group") or ""
            rows.append(
                [
                    trace["concept:name"],
                    e["concept:name"],
                    e["time:timestamp"],
                    e.get("org:resource", ""),
                    "" if group == "EMPTY" else group,
                    e.get("concept:instance", ""),
                    trace.get("channel", ""),
                    trace.get("department", ""),
                ]
            )
    header = ["case_id", "activity", "timestamp", "resource", "group", "task", "entry", "department"]
    write("receipt.csv", header, rows)


def roadtraffic():
    rows = []
    for trace, events in traces(SOURCE / "real/roadtraffic100traces.xes"):
        for e in events:
            assert re.search(r"T00:00:00(\.000)?[+-]", e["time:timestamp"]), e
            rows.append(
                [
                    trace["concept:name"],
                    e["concept:name"],
                    e["time:timestamp"][:10],
                    e.get("org:resource", ""),
                    e.get("vehicleClass", ""),
                    e.get("amount", ""),
                    e.get("paymentAmount", ""),
                ]
            )
    write(
        "roadtraffic100traces.csv",
        ["case_id", "activity", "timestamp", "resource", "vehicleclass", "amount", "payment"],
        rows,
    )


def order_management():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.sqlite")
        with gzip.open(SOURCE / "ocel/order_management_ocpa.sqlite.gz") as a, open(path, "wb") as b:
            shutil.copyfileobj(a, b)
        db = sqlite3.connect(path)
        kind = {str(i): t for i, t in db.execute('SELECT ocel_id, ocel_type FROM "object"')}
        role = dict(db.execute("SELECT ocel_id, role FROM object_Employees WHERE role IS NOT NULL"))
        times = {}
        for _, table in db.execute("SELECT ocel_type, ocel_type_map FROM event_map_type").fetchall():
            times.update(db.execute(f'SELECT ocel_id, ocel_time FROM "event_{table}"'))
        orders = defaultdict(set)  # object id -> ids of the orders it belongs to
        contents = []
        for source, target, qualifier in db.execute("SELECT * FROM object_object"):
            source, target = str(source), str(target)
            if qualifier == "comprises":
                orders[target].add(source)
            elif qualifier == "contains":
                contents.append((source, target))
        for package, item in contents:
            orders[package] |= orders[item]
        links = defaultdict(list)
        for event, thing, qualifier in db.execute("SELECT * FROM event_object"):
            links[event].append((str(thing), qualifier))
        rows = []
        for event, activity in db.execute("SELECT ocel_id, ocel_type FROM event"):
            cases, people, customer, shipper, item, package = set(), [], "", "", "", ""
            for thing, qualifier in links[event]:
                what = kind[thing]
                if what == "orders":
                    cases.add(thing)
                elif what in ("items", "packages"):
                    cases |= orders[thing]
                    item, package = (thing, package) if what == "items" else (item, thing)
                elif what == "customers":
                    customer = thing
                elif qualifier == "shipper":
                    shipper = thing
                else:
                    people.append(thing)
            assert len(people) <= 1, (event, activity, people)
            assert cases, (event, activity)
            who = people[0] if people else ""
            for case in sorted(cases):
                rows.append(
                    [
                        case,
                        activity,
                        times[event],
                        who,
                        role.get(who, ""),
                        customer,
                        item,
                        package,
                        shipper,
                        event,
                    ]
                )
        db.close()
    rows.sort(key=lambda r: (r[2], int(r[-1][1:]), r[0]))
    write(
        "order_management.csv",
        [
            "case_id",
            "activity",
            "timestamp",
            "resource",
            "role",
            "customer",
            "item",
            "package",
            "shipper",
            "ocel_event",
        ],
        rows,
    )


def unpack(source, name):
    with opened(SOURCE / source) as a, (LOGS / name).open("wb") as b:
        shutil.copyfileobj(a, b)
    print(name)


if __name__ == "__main__":
    LOGS.mkdir(parents=True, exist_ok=True)
    unpack("real/traffic_fines.csv.gz", "traffic_fines.csv")
    unpack("textbook/patients.csv.gz", "patients.csv")
    unpack("textbook/running-example.csv", "running-example.csv")
    receipt()
    roadtraffic()
    order_management()
