// Appends to a session until it is killed, and prints the sequence number of each event after its commit.
import { openDatabase } from "../src/database.ts";
import { claimOne, delta, NODE } from "./database-fixture.ts";

const [location = "", sessionId = ""] = process.argv.slice(2);
const database = await openDatabase(location);
const owner = await claimOne(database, await database.nodes.register(NODE), sessionId);
let offset = 0;
for (;;) {
  await database.journal.waitForCapacity();
  const appends = Array.from({ length: 20 }, async () => {
    const [event] = await database.journal.append(owner, [delta("x", (offset += 1))]);
    process.stdout.write(`${event?.seq}\n`);
  });
  await Promise.all(appends);
}
