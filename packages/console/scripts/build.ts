// Builds the page, writes compressed copies of its files, and fails if it is larger than its budget.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { checkSizes, measure } from "./size-budget.ts";

const root = join(import.meta.dirname, "..");
const out = join(root, "dist/static");
/** Compressing smaller files saves less than a packet. */
const SMALLEST = 512;

await build({ configFile: join(root, "vite.config.ts"), logLevel: "warn" });

for (const name of readdirSync(out, { recursive: true, encoding: "utf8" })) {
  if (!/\.(?:css|html|js|json|svg|webmanifest)$/.test(name)) continue;
  const bytes = readFileSync(join(out, name));
  if (bytes.length < SMALLEST) continue;
  writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes, { params }));
}

const problems = checkSizes(measure(out));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
