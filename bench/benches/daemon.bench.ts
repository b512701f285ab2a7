import { defineBench } from "../define-bench.ts";
import { appendEvents, insertPlainRows } from "./daemon/appends.ts";
import { readFirstPage } from "./daemon/pages.ts";
import { setUp } from "./daemon/setup.ts";

/** The daemon's store on SQLite and on a real Postgres, both with commits that wait for the disk. */
export default defineBench({
  name: "daemon",
  description: "journal appends and the history of long sessions, on SQLite and Postgres",
  rounds: 5,
  setup: setUp,
  rows: (row) => [
    row({
      name: "journal appends, SQLite",
      measures: "events/s",
      contestants: {
        ours: ({ sqlite }) => appendEvents(sqlite),
        floor: ({ plain }) => Promise.resolve(insertPlainRows(plain)),
      },
      bars: [{ atLeast: 50_000 }],
    }),
    row({
      name: "journal appends, Postgres",
      measures: "events/s",
      contestants: { ours: ({ postgres }) => appendEvents(postgres) },
      bars: [{ atLeast: 20_000 }],
    }),
    row({
      name: "first page of items, 100,000 events, SQLite",
      measures: "ms",
      contestants: {
        ours: ({ sqlite }) => readFirstPage(sqlite, sqlite.long),
        "100 events": ({ sqlite }) => readFirstPage(sqlite, sqlite.short),
      },
      bars: [{ against: "100 events", atMost: 3 }],
    }),
    row({
      name: "first page of items, 100,000 events, Postgres",
      measures: "ms",
      contestants: {
        ours: ({ postgres }) => readFirstPage(postgres, postgres.long),
        "100 events": ({ postgres }) => readFirstPage(postgres, postgres.short),
      },
      bars: [{ against: "100 events", atMost: 3 }],
    }),
  ],
});
