// A program that is killed in the middle of a transaction: `node killed-transaction.ts FOLDER STATE`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../src/index.ts";

const [folder = "", stateRoot = ""] = process.argv.slice(2);
const workspace = openWorkspace({ folder, stateRoot });
const temporary = openWorkspace();
await workspace.transact(async () => {
  writeFileSync(join(folder, "a.txt"), "half done");
  writeFileSync(join(folder, "b.txt"), "half done");
  process.stdout.write(`${temporary.root}\n`);
  await new Promise(() => setInterval(() => {}, 1_000));
});
