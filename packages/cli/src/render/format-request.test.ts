import { toInboxRequest } from "@codexkit/daemon/client";
import type { AnyApproval } from "codexkit";
import { expect, test } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { formatRequest } from "./format-request.ts";

const style = createStyle(false);

test("a patch of the first protocol is shown with its diffs and the folder that it asks for", () => {
  const request = {
    kind: "legacyPatch",
    reason: undefined,
    params: { grantRoot: "/srv/shared" },
    changes: {
      "/work/added.txt": { type: "add", content: "new line\n" },
      "/work/deleted.txt": { type: "delete", content: "old line\n" },
      "/work/changed.txt": {
        type: "update",
        unified_diff: "@@ -1 +1 @@\n-before\n+after\n",
        move_path: null,
      },
    },
  } as unknown as AnyApproval;

  const text = formatRequest(toInboxRequest(request), "/work", style).join("\n");

  expect(text).toMatch(/\+ ?new line/);
  expect(text).toMatch(/- ?old line/);
  expect(text).toMatch(/- ?before\n.*\+ ?after/);
  expect(text).toContain("and to write below /srv/shared");
});

test("a call without arguments is shown without them", () => {
  const request = { kind: "mcpTool", server: "till", message: "Allow it?" } as unknown as AnyApproval;

  expect(formatRequest(toInboxRequest(request), "/work", style)).not.toContain("  null");
});
