import { launchCodex } from "@codexkit/testing";
import { expect, it } from "vitest";
import type { RawMessage } from "../src/events/event.ts";

it("receives the notifications of the handshake", async () => {
  const received: RawMessage[] = [];
  await using test = await launchCodex({
    model: [],
    config: { no_such_setting: 1 },
    onNotification: (message) => received.push(message),
  });
  // All notifications of the handshake arrive before the response to a later request.
  await test.codex.request("config/read", {});
  const warnings = received.filter(({ method }) => method === "configWarning");
  expect(JSON.stringify(warnings)).toContain("no_such_setting");
});
