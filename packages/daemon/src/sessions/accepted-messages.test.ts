import { expect, test } from "vitest";
import { AcceptedMessages } from "./accepted-messages.ts";

test("a message is awaited in its turn, whichever is reported first", async () => {
  const messages = new AcceptedMessages();
  messages.accept("early", "first");
  messages.turnEnded("first");
  expect(await messages.wait("early", "first")).toBe("first");
  const accepted = messages.wait("late", "second");
  messages.accept("late", "second");
  expect(await accepted).toBe("second");
});

test("a turn that ends without a message ends its wait, whichever comes first", async () => {
  const messages = new AcceptedMessages();
  messages.turnEnded("first");
  expect(await messages.wait("lost", "first")).toBeUndefined();
  const lost = messages.wait("lost too", "second");
  messages.turnEnded("second");
  expect(await lost).toBeUndefined();
});
