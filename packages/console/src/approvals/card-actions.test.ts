import { expect, it } from "vitest";
import { approvalOf, commandRequest } from "./approval.fixture.ts";
import { cardActions, describeStored } from "./card-actions.ts";

it("has exactly one button per offer, refusals first", () => {
  const approval = approvalOf(commandRequest);
  expect(cardActions(approval).map(({ label, key, opens }) => [label, key, opens])).toEqual([
    ["Decline…", "decline", "decline"],
    ["Decline and stop the turn", null, null],
    ["Allow once", "once", null],
    ["Allow for the session", "session", null],
    ["Always…", "always", "always"],
  ]);
  expect(cardActions({ ...approval, offers: approval.offers.slice(0, 1) }).map(({ label }) => label)).toEqual(
    ["Allow once"],
  );
});

it("shows a denied host before it is stored, and assigns a key to one offer only", () => {
  const host = { accepts: true, scope: "always", stores: "a.example" } as const;
  const actions = cardActions(
    approvalOf(commandRequest, {
      offers: [
        { ...host, id: "allowHost:a.example", label: "Always allow a.example" },
        { ...host, id: "allowHost:b.example", label: "Always allow b.example", stores: "b.example" },
        { ...host, id: "denyHost:a.example", label: "Always deny a.example", accepts: false },
      ],
    }),
  );
  expect(actions.map(({ label, key, opens }) => [label, key, opens])).toEqual([
    ["Always deny a.example…", null, "always"],
    ["Always allow a.example…", "always", "always"],
    ["Always allow b.example…", null, "always"],
  ]);
});

it("describes exactly what is stored, and where", () => {
  const action = cardActions(approvalOf(commandRequest)).at(-1);
  expect(action && describeStored(action, "command")).toBe(
    "Commands that start with this will be allowed without asking, in the configuration of the daemon's Codex, for all sessions:",
  );
});
