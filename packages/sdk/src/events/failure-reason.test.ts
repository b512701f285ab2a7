import { expect, test } from "vitest";
import { readFailureReason } from "./failure-reason.ts";

function reasonOf(message: string, codexErrorInfo: "other" | "usageLimitExceeded" | null = "other"): unknown {
  return readFailureReason({ message, codexErrorInfo, additionalDetails: null, misalignment: null }).reason;
}

test.each([
  ["Incomplete response returned, reason: max_output_tokens", "maxOutputTokens"],
  ["Incomplete response returned, reason: content_filter", "contentFilter"],
  ["stream disconnected before completion: the connection was reset", "streamDisconnected"],
  ["Missing environment variable: `MY_KEY`.", "missingApiKey"],
  ['{"error":{"message":"Unknown parameter"}}', "badRequest"],
  ["something else", "other"],
])("a failure that Codex reports as `other` is named after its message: %s", (message, reason) => {
  expect(reasonOf(message)).toBe(reason);
  expect(reasonOf(message, null)).toBe(reason === "other" ? undefined : reason);
});

test("Codex's own identifier takes precedence over the message", () => {
  expect(reasonOf("stream disconnected before completion", "usageLimitExceeded")).toBe("usageLimitExceeded");
});
