import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { spawnCommand } from "./spawn-command.ts";

const windows = {
  platform: "win32",
  comspec: String.raw`C:\Windows\cmd.exe`,
  node: String.raw`C:\node.exe`,
} as const;

describe("a command to spawn", () => {
  it("is the file itself if the system can run it", () => {
    const direct = { args: ["a b"], windowsVerbatimArguments: false };
    expect(spawnCommand("/bin/codex", ["a b"], { platform: "linux" })).toEqual({
      command: "/bin/codex",
      ...direct,
    });
    const exe = String.raw`C:\codex.exe`;
    expect(spawnCommand(exe, ["a b"], windows)).toEqual({ command: exe, ...direct });
  });

  it("is node for a script on Windows", () => {
    expect(spawnCommand(String.raw`C:\codex.js`, ["x"], windows)).toMatchObject({
      command: windows.node,
      args: [String.raw`C:\codex.js`, "x"],
    });
  });

  it("is cmd.exe for a batch file, with all special characters escaped", () => {
    const { command, args, windowsVerbatimArguments } = spawnCommand(
      String.raw`C:\Program Files\codex.CMD`,
      ["-c", 'model="a & calc.exe %PATH%"'],
      windows,
    );
    expect(command).toBe(windows.comspec);
    expect(windowsVerbatimArguments).toBe(true);
    expect(args.slice(0, 3)).toEqual(["/d", "/s", "/c"]);
    expect(args[3]).toBe(
      String.raw`"C:\Program^ Files\codex.CMD ^^^"-c^^^" ^^^"model=\^^^"a^^^ ^^^&^^^ calc.exe^^^ ^^^%PATH^^^%\^^^"^^^""`,
    );
  });

  it("rejects a line break, which a batch file can't receive", () => {
    expect(() => spawnCommand("codex.cmd", ["a\nb"], windows)).toThrow("line break");
  });

  it("passes any argument to a batch file unchanged", () => {
    fc.assert(
      fc.property(fc.array(fc.string().filter((text) => !/[\r\n\0]/.test(text))), (given) => {
        const line = spawnCommand("codex.cmd", given, windows).args[3] ?? "";
        // cmd.exe removes escapes twice: on its command line, then in the batch file's `%*`.
        const received = unescapeCmd(unescapeCmd(line.slice(1, -1)));
        expect(splitArguments(received)).toEqual(["codex.cmd", ...given]);
      }),
    );
  });
});

/** Removes carets like cmd.exe. An unescaped special character is an error. */
function unescapeCmd(text: string): string {
  return text.replaceAll(/\^(?<kept>.)/gsu, "$<kept>");
}

/** The rules of the C runtime. */
function splitArguments(line: string): string[] {
  const found: string[] = [];
  let current = "";
  let quoted = false;
  let begun = false;
  for (let at = 0; at < line.length; at++) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
    if (slashes > 0 && line[at + slashes] === '"') {
      current += "\\".repeat(Math.floor(slashes / 2));
      at += slashes;
      if (slashes % 2 === 1) current += '"';
      else quoted = !quoted;
      begun = true;
    } else if (line[at] === '"') {
      quoted = !quoted;
      begun = true;
    } else if (line[at] === " " && !quoted) {
      if (begun) found.push(current);
      current = "";
      begun = false;
    } else {
      current += line[at];
      begun = true;
    }
  }
  if (begun) found.push(current);
  return found;
}
