import { say } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { type LaunchedAppServer, launchAppServer } from "codexkit/process";
import { generateText } from "ai";
import { describe, expect, it } from "vitest";
import { codexStage } from "../../test/codex-stage.ts";
import { createCodex } from "../index.ts";

describe("a logger and a packet log", () => {
  it("receive warnings, Codex's own log, and every message to and from Codex", async () => {
    const warnings: string[] = [];
    const log: string[] = [];
    const packets: string[] = [];
    await using stage = await codexStage(() => say("ok"));
    await using codex = createCodex({
      launch: {
        ...stage.stage.launchOptions,
        env: { ...stage.stage.launchOptions.env, RUST_LOG: "info" },
      },
      cwd: stage.workspace,
      logger: { warn: (message) => void warnings.push(message), debug: (line) => void log.push(line) },
      onPacket: ({ direction, text }) => void packets.push(`${direction} ${text}`),
    });
    await generateText({ model: codex(), prompt: "go", temperature: 1 });
    expect(warnings).toEqual([expect.stringContaining("temperature")]);
    await expect.poll(() => log.join("\n")).toMatch(/INFO.*codex/);
    expect(packets.some((packet) => packet.startsWith("sent") && packet.includes("turn/start"))).toBe(true);
    expect(packets.some((packet) => packet.startsWith("received") && packet.includes("turn/completed"))).toBe(
      true,
    );
  });
});

describe("a failing logger", () => {
  it.each([
    [
      "throws",
      () => {
        throw new Error("The disk is full.");
      },
    ],
    ["rejects", () => Promise.reject(new Error("The disk is full."))],
  ])("does not fail the call if it %s", async (_how, warn: () => unknown) => {
    await using stage = await codexStage(() => say("ok"), { logger: { warn } });
    const { text } = await generateText({ model: stage.codex(), prompt: "go", temperature: 1 });
    expect(text).toBe("ok");
  });
});

describe("a custom transport", () => {
  it("carries calls, and is reopened after it is lost", async () => {
    await using folders = await codexFolders({ model: ({ lastUserText }) => say(`re ${lastUserText}`) });
    const opened: LaunchedAppServer[] = [];
    await using codex = createCodex({
      cwd: folders.workspace,
      transport: {
        local: true,
        open: async () => {
          const server = await launchAppServer({ inheritEnv: false, env: folders.env });
          opened.push(server);
          return server.transport;
        },
      },
    });
    const ask = async (prompt: string) => (await generateText({ model: codex(), prompt })).text;
    expect(await ask("one")).toBe("re one");
    await opened[0]?.transport.close();
    expect(await ask("two")).toBe("re two");
    expect(opened).toHaveLength(2);
    for (const server of opened) await server.dispose();
  });
});
