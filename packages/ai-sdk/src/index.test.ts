import { loadedModules } from "@codexkit/testing";
import { expect, it } from "vitest";

it("loads the SDK and the thread code only at the first call, so that imports stay fast", async () => {
  const loaded = await loadedModules(new URL("./index.ts", import.meta.url));
  expect(loaded).toContain("/create-codex.ts");
  expect(loaded).not.toMatch(
    /packages\/(?:approvals|protocol)\/|\/sdk\/src\/(?:index|codex|launch-codex)\.ts/,
  );
  expect(loaded).not.toContain("/session/sessions.ts");
});
