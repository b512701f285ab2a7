// Runs every example as a separate program.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "../examples");

/** Expected output, and the answer to a prompt. */
const expectations: Record<string, { prints: RegExp; answers?: { to: string; with: string } }> = {
  "ai-sdk-approval.ts": {
    prints: /this process ends\.[^]*echo tested[^]*The tests pass\./,
    answers: { to: "[y/N]", with: "y\n" },
  },
  "ai-sdk-chat-route.ts": {
    prints:
      /codex_exec: output-available\nThe folder is empty\.\nI ran ls in it, as you asked\.[^]*Ann's messages: 403/,
  },
  "ai-sdk-generate-text.ts": { prints: /Ask me anything\.\nYou said hello\.\n\d+ tokens, the same thread/ },
  "ai-sdk-stream-text.ts": { prints: /I look first\.[^]*"exitCode":0[^]*There are two lines\.\nstop, \d+/ },
  "ai-sdk-structured-output.ts": { prints: /\{"name":"codexkit"[^]*codexkit: \*{5}/ },
  "ai-sdk-tools.ts": { prints: /The tool says: It snows in Oslo\. \(2 steps\)/ },
  "approvals.ts": {
    prints: /completed: outside the sandbox[^]*Done\./,
    answers: { to: "[y/a/N]", with: "y\n" },
  },
  "approve-from-chat.ts": {
    prints:
      /chat: Allow `[^`]*touch deployed[^`]*`\? Reply yes or no\.\nThe reviewer answered yes\nDeployed\./,
    answers: { to: "Reply yes or no.", with: "yes\n" },
  },
  "attach.ts": { prints: /attached to codexkit\/[\d.]+\nHello from a server that was already running\./ },
  "exec-server.ts": { prints: /attached: \w+\nbuilt on the exec-server\nThe build passes\./ },
  "fork-and-revert.ts": { prints: /You said: second\nYou said: second, another way\n1 turn left/ },
  "prompts-reviewer.ts": { prints: /reject: The password[^]*findings: \[[^]*login\.js[^]*turns: 2/ },
  "provider.ts": {
    prints: /decline: overwrites[^]*shell tests pass[^]*All is well\. \(2 model calls\)/,
  },
  "quick-start.ts": { prints: /nothing in it yet\.\n\d+ tokens/ },
  "relay.ts": {
    prints: /executor: connected\nhello through the relay\nexit code 0\nexecutor: closed/,
  },
  "streaming.ts": { prints: /\$ \/bin\/bash[^]*exit code 0[^]*The turn completed in \d+ ms/ },
  "structured-output.ts": { prints: /codexkit: \*{5}/ },
  "tools.ts": { prints: /The tool says: It snows in Oslo\./ },
  "two-clients.ts": {
    prints: /second client approves[^]*second client receives: It is late\.\nfirst client gets: It is late\./,
  },
};

async function output(
  child: ChildProcessWithoutNullStreams,
  answers: { to: string; with: string } | undefined,
): Promise<{ code: number | null; text: string }> {
  let text = "";
  const read = (chunk: string): void => {
    text += chunk;
    if (answers && text.includes(answers.to)) child.stdin.write(answers.with);
  };
  child.stdout.setEncoding("utf8").on("data", read);
  child.stderr.setEncoding("utf8").on("data", read);
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, text }));
  });
}

describe("the examples", () => {
  it("are all covered", () => {
    const programs = readdirSync(folder).filter(
      (file) => file.endsWith(".ts") && file !== "set-up-example.ts",
    );
    expect(Object.keys(expectations).toSorted()).toEqual(programs.toSorted());
  });

  it.each(Object.entries(expectations))(
    "%s prints the expected output",
    async (file, { prints, answers }) => {
      const child = spawn(process.execPath, ["--conditions=codexkit:source", join(folder, file)]);
      const { code, text } = await output(child, answers);
      expect(text).toMatch(prints);
      expect(code).toBe(0);
    },
  );
});
