// Many executors in one process that forward to one exec-server. With a hundred exec-servers, they would be
// what is measured.
import { runExecutor } from "@codexkit/relay";
import { once } from "node:events";

const [registryUrl = "", url = "", count = "0"] = process.argv.slice(2);
const credential = process.env["CODEXKIT_RELAY_TOKEN"] ?? "";

await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    runExecutor({ registryUrl, environmentId: `many-${index}`, credential, forwardTo: { url } }),
  ),
);
process.stdout.write("connected\n");
process.stdin.resume();
await once(process.stdin, "end");
process.exit();
