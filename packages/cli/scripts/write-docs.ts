// Generates docs/cli.md from the command definitions: node --conditions=codexkit:source
// packages/cli/scripts/write-docs.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProgram } from "../src/program.ts";
import { formatDocs } from "./format-docs.ts";

writeFileSync(join(import.meta.dirname, "../../../docs/cli.md"), formatDocs(createProgram()));
