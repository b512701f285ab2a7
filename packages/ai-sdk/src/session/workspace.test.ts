import { run, say, type ScriptRequest } from "@codexkit/scripted-model";
import { generateText, streamText } from "ai";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexStage } from "../../test/codex-stage.ts";

describe("a workspace", () => {
  const where = ({ input }: ScriptRequest): string =>
    /<cwd>([^<]*)<\/cwd>(?!.*<cwd>)/.exec(JSON.stringify(input))?.[1] ?? "";

  it("of a call is empty, and is removed after its turn", async () => {
    await using stage = await codexStage(() => say("ok"), { workspace: "call" });
    await generateText({ model: stage.codex(), prompt: "go" });
    await streamText({ model: stage.codex(), prompt: "go" }).text;
    const [one = "", two = ""] = stage.model.requests.map(where);
    expect(one).toContain("codexkit-workspace-");
    expect(two).not.toBe(one);
    expect(existsSync(one) || existsSync(two)).toBe(false);
  });

  it("of a conversation is kept when the conversation moves to another thread, and is removed with the provider", async () => {
    await using stage = await codexStage(
      ({ lastUserText, newOutputs }) =>
        lastUserText === "make" && newOutputs.length === 0 ? run("touch made") : say("ok"),
      { workspace: "conversation", sandbox: "danger-full-access", approvalPolicy: "never" },
    );
    const first = await generateText({ model: stage.codex(), prompt: "make" });
    const path = where(stage.model.requests[0] as ScriptRequest);
    expect(existsSync(join(path, "made"))).toBe(true);
    await generateText({
      model: stage.codex(),
      system: "Other instructions, so another thread.",
      messages: [
        { role: "user", content: "make" },
        ...first.responseMessages,
        { role: "user", content: "two" },
      ],
    });
    expect(where(stage.model.requests.at(-1) as ScriptRequest)).toBe(path);
    expect(existsSync(join(path, "made"))).toBe(true);
    await stage.codex.close();
    expect(existsSync(path)).toBe(false);
  });
});
