import { expect, test } from "vitest";
import { approvalLine, rolloutPath } from "../../test/session-file-lines.ts";
import { sessionFileLine } from "./session-file.ts";

const APPROVAL = approvalLine({
  turn_id: null,
  item_id: null,
  call_id: null,
  request_id: '"1"',
  state: "parked",
  answer: null,
  answered_by: null,
  answered_at: null,
  progress: JSON.stringify({ reason: "crash", openCalls: ["call"], startedItems: [] }),
}).approval;
const ROLLOUT = {
  kind: "rollout",
  id: "x_1-2",
  path: rolloutPath("x"),
  baseId: null,
  role: "main",
  bytes: 3,
};
const EVENT = {
  kind: "event",
  seq: 1,
  epoch: 1,
  at: 1,
  type: "warning",
  turn_id: null,
  item_id: null,
  data: "{}",
};

function offer(id: string, accepts: boolean, scope: string) {
  return { id, label: "Decline", accepts, scope, stores: null };
}

test("the offers of a daemon are accepted", () => {
  const offers = JSON.stringify([
    offer("accept", true, "call"),
    offer("acceptWithPrefix", true, "always"),
    offer("denyHost:example.com", false, "always"),
    offer("cancel", false, "call"),
  ]);
  const line = { kind: "approval", approval: { ...APPROVAL, offers } };
  expect(sessionFileLine.safeParse(line).success).toBe(true);
});

test("lines of the right form are accepted", () => {
  for (const line of [{ kind: "approval", approval: APPROVAL }, ROLLOUT, EVENT]) {
    expect(sessionFileLine.parse(line)).toEqual(line);
  }
});

test.each([
  { request: "null" },
  { request: '{"kind":"other"}' },
  { request: '{"kind":"command","command":5}' },
  { request_id: "{}" },
  { offers: "{}" },
  { offers: '[{"id":1}]' },
  // A decline that accepts, an acceptance that is remembered, and an unknown offer.
  { offers: JSON.stringify([offer("decline", true, "call")]) },
  { offers: JSON.stringify([offer("accept", true, "always")]) },
  { offers: JSON.stringify([offer("ok", true, "call")]) },
  { offers: JSON.stringify([offer("toString", true, "call")]) },
  { kind: "mcpTool" },
  { verdict: "5" },
  { answer: "null" },
  { progress: "null" },
  { progress: '{"openCalls":5,"cutBytes":-1}' },
  { progress: '{"more":1}' },
])("an approval with %j is refused", (change) => {
  const line = { kind: "approval", approval: { ...APPROVAL, ...change } };
  expect(sessionFileLine.safeParse(line).success).toBe(false);
});

test("IDs that are paths, and events that are not objects or nested too deep, are refused", () => {
  const lines = [
    { ...ROLLOUT, id: "../../x" },
    { ...ROLLOUT, baseId: "../../x" },
    { ...EVENT, data: "null" },
    { ...EVENT, data: "[1]" },
    { ...EVENT, data: `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}` },
  ];
  for (const line of lines) expect(sessionFileLine.safeParse(line).success).toBe(false);
});

test("numbers from which a session could not continue are rejected", () => {
  const { MAX_SAFE_INTEGER } = Number;
  const lines = [
    { ...EVENT, seq: MAX_SAFE_INTEGER },
    { ...EVENT, epoch: MAX_SAFE_INTEGER },
    { ...ROLLOUT, bytes: MAX_SAFE_INTEGER },
  ];
  for (const line of lines) expect(sessionFileLine.safeParse(line).success).toBe(false);
});
