import type { AnyApproval } from "codexkit";
import { expect, it } from "vitest";
import { toInboxRequest } from "./to-inbox-request.ts";

it("keeps the contents of files that a patch of the first protocol adds and deletes", () => {
  const request = {
    kind: "legacyPatch",
    reason: undefined,
    params: { grantRoot: null },
    changes: {
      "added.txt": { type: "add", content: "new" },
      "deleted.txt": { type: "delete", content: "old" },
      "changed.txt": { type: "update", unified_diff: "@@ -1 +1 @@", move_path: null },
      "moved.txt": { type: "update", unified_diff: "@@ -2 +2 @@", move_path: "/etc/cron.d/x" },
    },
  } as unknown as AnyApproval;
  expect(toInboxRequest(request)).toMatchObject({
    kind: "fileChange",
    changes: [
      { path: "added.txt", kind: "add", diff: "new" },
      { path: "deleted.txt", kind: "delete", diff: "old" },
      { path: "changed.txt", kind: "update", diff: "@@ -1 +1 @@" },
      // As in Codex's own diffs.
      { path: "moved.txt", kind: "update", diff: "@@ -2 +2 @@\n\nMoved to: /etc/cron.d/x" },
    ],
  });
});
