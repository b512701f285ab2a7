import { expect, test } from "vitest";
import { planCommand } from "./plan-command.ts";
import { findCommand } from "./slash-commands.ts";

const settings = {
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
  budget: { outputTokens: 5 },
} as const;

function plan(text: string) {
  const [name = "", ...words] = text.split(" ");
  const command = findCommand(name);
  if (!command) throw new Error(`Unknown command ${name}`);
  return planCommand(command, words.join(" "), { goal: null, settings });
}

test.each([
  ["compact", { operation: "compact" }],
  ["compact now", { operation: "refuse" }],
  ["review", { operation: "review", body: { target: { type: "uncommittedChanges" } } }],
  ["review main", { operation: "review", body: { target: { type: "baseBranch", branch: "main" } } }],
  ["review abcdef0", { operation: "review", body: { target: { type: "commit", sha: "abcdef0" } } }],
  ["review look at locks", { body: { target: { type: "custom", instructions: "look at locks" } } }],
  ["fork other way", { operation: "fork", body: { name: "other way" } }],
  ["revert", { operation: "revert", turns: 1 }],
  ["revert 3", { operation: "revert", turns: 3 }],
  ["revert 0", { operation: "refuse" }],
  ["rename", { operation: "refuse" }],
  ["mode plan", { operation: "settings", body: { agentMode: "plan" } }],
  ["mode fast", { operation: "refuse", message: "/mode takes one of build, plan, chat." }],
  ["goal", { operation: "refuse", message: "There is no goal. Set one with /goal and a text." }],
  ["goal clear", { operation: "goal", body: { goal: null } }],
  ["budget 200k", { body: { budget: { outputTokens: 5, totalTokens: 200_000 } } }],
  ["budget lots", { operation: "refuse" }],
  ["budget clear", { operation: "settings", body: { budget: null } }],
])("translates /%s", (text, expected) => {
  expect(plan(text)).toMatchObject(expected);
});
