import { staticFiles } from "@codexkit/console";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder of the built page. Throws if it was not built. */
export function builtPage(): string {
  if (existsSync(join(staticFiles, "index.html"))) return staticFiles;
  throw new Error(
    "The console is not built: packages/console/dist is missing. Run `npm run build -w packages/console` first; `npm test` does.",
  );
}
