import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Imports a module and prints the URL of every module that this loads. */
const PROGRAM = `
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({
    load: (url, context, next) => {
      urls.push(url);
      return next(url, context);
    },
  });
  await import(process.argv[1]);
  console.log(JSON.stringify(urls));
`;

it("loads the SDK and the threads only with the first call, so that imports stay fast", async () => {
  const entry = new URL("./index.ts", import.meta.url).href;
  const args = ["--conditions=codexkit:source", "--input-type=module", "--eval", PROGRAM, entry];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toContain("/create-codex.ts");
  expect(stdout).not.toMatch(
    /packages\/(?:approvals|protocol)\/|\/sdk\/src\/(?:index|codex|launch-codex)\.ts/,
  );
  expect(stdout).not.toContain("/session/sessions.ts");
});
