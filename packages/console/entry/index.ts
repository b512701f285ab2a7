// The static files of the web console.

import { fileURLToPath } from "node:url";

/**
 * Folder of the console's built files: `index.html` and what it loads, each with a `.br` and a `.gz` copy. Pass it to
 * `createDaemon({ staticFiles })` of `@codexkit/daemon`, which serves it at `/console/`.
 */
export const staticFiles: string = fileURLToPath(new URL("../dist/static/", import.meta.url));
