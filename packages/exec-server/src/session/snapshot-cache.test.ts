// Shell snapshots on a real bash with a home of its own. Its profile leaves a line in a file each time that it runs.
import { tempFolder } from "@codexkit/testing";
import fc from "fast-check";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ExecClient, type StartOptions } from "../client/exec-client.ts";
import type { ServerLimits } from "../limits.ts";
import { ExecServer } from "../server/exec-server.ts";

const BASH = "/bin/bash";
const COUNT = 'echo ran >> "$HOME/runs"\n';
const PATH = "/usr/bin:/bin";

type RunOptions = Partial<StartOptions> & { scope?: string; shell?: string; by?: ExecClient };

async function withProfile(profile: string, limits: Partial<ServerLimits> = {}) {
  await using stack = new AsyncDisposableStack();
  const home = stack.use(await tempFolder("snapshot")).path;
  await writeFile(join(home, ".bash_profile"), COUNT + profile);
  const server = stack.use(await ExecServer.start({ limits }));
  const client = stack.use(await ExecClient.connect(server.url ?? ""));
  const run = async (
    script: string,
    { scope = "s", shell = "bash", by = client, ...more }: RunOptions = {},
  ) => {
    const process = await by.start({
      argv: [BASH, "-lc", script],
      cwd: home,
      env: { HOME: home, PATH },
      shellSnapshot: { scopeId: scope, shell: { name: shell, path: BASH } },
      ...more,
    });
    const { exitCode, stdout, stderr } = await process.collect();
    return { exitCode, stdout: String(stdout), stderr: String(stderr) };
  };
  const owner = stack.move();
  return {
    home,
    url: server.url ?? "",
    run,
    /** How a login shell does it. */
    login: (script: string) => run(script, { shellSnapshot: null }),
    runs: async () => (await readFile(join(home, "runs"), "utf8")).split("\n").length - 1,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

const policy = {
  inherit: "none",
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
} as const;

describe("what a profile did", () => {
  test.each([
    ["exports", `export A="it's"$'\\n"two"  ' B=$A`, 'printf "%s|" "$A" "$B"; env | grep -c SHELL_STATE'],
    ["a longer PATH", 'export PATH="$HOME/bin:$PATH"', 'echo "$PATH"'],
    ["a variable taken away", "unset DROPPED", 'echo "${DROPPED-none}"'],
    ["functions", "f() { case $1 in a) echo \"f '$1'\";; esac; }", "f a; declare -F"],
    ["exported functions", "f() { echo in child; }; export -f f; g() { :; }", "bash -c 'f; g'"],
    ["functions that need an option", "shopt -s extglob\nf() { [[ $1 == +(a) ]] && echo yes; }", "f aaa"],
    ["aliases", "shopt -s expand_aliases\nalias ll='echo \"al'\\''iased\"' echo='echo x'", "ll\necho; alias"],
    [
      "options",
      "set -o pipefail -u; shopt -s nullglob globstar",
      "set +o; shopt | grep -v login_shell; echo $-",
    ],
    ["errexit", "set -e", "echo a\nfalse\necho b"],
    ["posix mode", "f-g() { echo dash; }\nset -o posix", "set -o | grep posix; f-g"],
    ["the mask", "umask 027", "umask"],
    [
      "BASH_ENV",
      `echo 'export OF_ENV=$((OF_ENV + 1))' > "$HOME/e"; export BASH_ENV="$HOME/e"`,
      "echo $OF_ENV; bash -c 'echo $OF_ENV'",
    ],
    [
      "CDPATH and a builtin's name",
      "export CDPATH=/usr; declare() { echo mine; }; printf() { :; }",
      "cd bin; declare",
    ],
  ])("survives: %s", async (_name, profile, script) => {
    await using it = await withProfile(profile);
    const env = { HOME: it.home, PATH, DROPPED: "1" };
    const expected = await it.run(script, { shellSnapshot: null, env });
    const first = await it.run(script, { env });
    expect(first).toEqual(expected);
    expect(await it.run(script, { env })).toEqual(expected);
    expect(await it.runs()).toBe(2);
  });

  test("comes back without its noise, on pipes and on a PTY, with arguments", async () => {
    await using it = await withProfile("echo noise; echo noise >&2; trap 'echo bye' EXIT; f() { echo f; }");
    const argv: [string, ...string[]] = [BASH, "-lc", 'f; echo "$0 $1"', "zero", "one"];
    expect(await it.run("", { argv })).toEqual({ exitCode: 0, stdout: "f\nzero one\n", stderr: "" });
    const { stdout } = await it.run("f; exit 3", { tty: true });
    expect(stdout).toBe("f\r\n");
    expect((await it.run("f; exit 3")).exitCode).toBe(3);
    expect(await it.runs()).toBe(1);
  });

  test("survives when it is large", async () => {
    await using it = await withProfile(
      `for i in {1..3000}; do eval "f$i() { echo 'é𝄞 $i ${"x".repeat(60)}'; }"; done`,
    );
    const expected = await it.login("f1; f3000");
    expect(expected.stdout).toContain("é𝄞 3000");
    expect(await it.run("f1; f3000")).toEqual(expected);
    expect(await it.runs()).toBe(2);
  });

  test("any exported value survives", async () => {
    await using it = await withProfile('. "$HOME/values"');
    const value = fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !text.includes("\0"));
    let scope = 0;
    const check = async (text: string): Promise<void> => {
      const valid = text.toWellFormed();
      await writeFile(join(it.home, "values"), `export V='${valid.replaceAll("'", String.raw`'\''`)}'`);
      scope += 1;
      for (let time = 0; time < 2; time += 1) {
        const { stdout } = await it.run('printf %s "$V"', { scope: String(scope) });
        expect(stdout).toBe(valid);
      }
    };
    await fc.assert(fc.asyncProperty(value, check), { numRuns: 40 });
    await check(`'"\n$(echo no)\`\\\r\t!*`);
  });
});

describe("the environment", () => {
  test("is filtered by the policy", async () => {
    await using it = await withProfile(
      "export KEPT=1 MY_TOKEN=t DENIED=d SET=profile OPENAI_IDENTITY_TOKEN_FILE=x",
    );
    const envPolicy = { ...policy, exclude: ["DEN*"], set: { SET: "policy" }, includeOnly: [] };
    const script = 'echo "$KEPT|$MY_TOKEN|$DENIED|$SET|$OPENAI_IDENTITY_TOKEN_FILE"';
    expect((await it.run(script, { envPolicy })).stdout).toBe("1|||policy|\n");
    const includeOnly = {
      ...policy,
      exclude: [],
      set: {},
      ignoreDefaultExcludes: true,
      includeOnly: ["MY_*"],
    };
    expect((await it.run(script, { envPolicy: includeOnly })).stdout).toBe("|t|||\n");
  });

  test("of a later request wins over what the profile made of another", async () => {
    await using it = await withProfile('export MODE="${MODE}-profile"');
    const env = { HOME: it.home, PATH, MODE: "a" };
    expect((await it.run("echo $MODE", { env })).stdout).toBe("a-profile\n");
    expect((await it.run("echo $MODE", { env: { ...env, MODE: "b", NEW: "n" } })).stdout).toBe("b\n");
    expect(await it.runs()).toBe(1);
  });
});

describe("without a snapshot a command runs as ever", () => {
  test.each([
    [
      "the profile ends the shell",
      "echo early; export A=1; [[ $- == *c* && $BASH_EXECUTION_STRING == *printf* ]] && exit 0",
      {},
    ],
    [
      "the profile takes too long",
      "export A=1; [[ $BASH_EXECUTION_STRING == *printf* ]] && sleep 60",
      // Long enough for the profile to be counted before it is ended.
      { snapshotTimeoutMs: 2_000 },
    ],
    [
      "the profile prints too much",
      "export A=1; [[ $BASH_EXECUTION_STRING == *printf* ]] && yes",
      { snapshotBytes: 4096 },
    ],
    ["an export is not UTF-8", "export A=1 BAD=$'\\xff'", {}],
  ])("%s", async (_name, profile, limits) => {
    await using it = await withProfile(profile, limits);
    const expected = await it.login("echo $A");
    expect(expected.stdout).toContain("1\n");
    expect(await it.run("echo $A")).toEqual(expected);
    expect(await it.run("echo $A")).toEqual(expected);
    // One for each command, and a single try.
    expect(await it.runs()).toBe(4);
  });

  test("another argv, another shell's kind, a login name", async () => {
    await using it = await withProfile("echo noise");
    expect((await it.run("", { argv: [BASH, "-c", "echo plain"] })).stdout).toBe("plain\n");
    expect((await it.run("", { argv: [BASH, "-c", "echo plain"], shell: "fish" })).stdout).toBe("plain\n");
    for (const shell of ["zsh", "sh"]) expect((await it.run("echo x", { shell })).stdout).toBe("noise\nx\n");
    expect((await it.run("echo x", { arg0: "-bash" })).stdout).toBe("noise\nx\n");
  });
});

test("a shell or a scope that can't be is refused", async () => {
  await using it = await withProfile("");
  await expect(it.run("true", { shell: "fish" })).rejects.toMatchObject({ rpcCode: -32602 });
  for (const scope of ["", "é".repeat(129)]) {
    await expect(it.run("true", { scope })).rejects.toMatchObject({ rpcCode: -32602 });
  }
  expect((await it.run("true", { scope: "é".repeat(128) })).exitCode).toBe(0);
});

test("a start can be terminated while the state is captured", async () => {
  await using it = await withProfile("sleep 0.5");
  await using by = await ExecClient.connect(it.url);
  const started = it.run("sleep 60", { by, processId: "p" });
  await expect.poll(() => it.runs().catch(() => 0)).toBe(1);
  await expect(by.request("process/terminate", { processId: "p" })).resolves.toEqual({ running: true });
  expect((await started).exitCode).toBe(137);
});

test("a script that only just fits is run", async () => {
  await using it = await withProfile("");
  const script = `echo ${"x".repeat(128 * 1024 - 10)}`;
  expect((await it.run(script)).stdout.length).toBe(128 * 1024 - 9);
});

describe("snapshots are kept", () => {
  test("for 16 of a session's scopes, the last used", async () => {
    await using it = await withProfile("");
    for (let scope = 0; scope < 16; scope += 1) await it.run("true", { scope: String(scope) });
    await it.run("true", { scope: "0" });
    await it.run("true", { scope: "16" });
    expect(await it.runs()).toBe(17);
    await it.run("true", { scope: "0" });
    expect(await it.runs()).toBe(17);
    await it.run("true", { scope: "1" });
    expect(await it.runs()).toBe(18);
  });

  test("for each session, folder and policy, and captured once for starts at the same time", async () => {
    await using it = await withProfile("sleep 0.2");
    await Promise.all([1, 2, 3].map(() => it.run("true")));
    expect(await it.runs()).toBe(1);
    await it.run("true", { cwd: "/" });
    await it.run("true", { envPolicy: { ...policy, exclude: [], set: {}, includeOnly: [] } });
    expect(await it.runs()).toBe(3);
    await using other = await ExecClient.connect(it.url);
    await it.run("true", { by: other });
    expect(await it.runs()).toBe(4);
  });

  test("for each sandbox, captured inside it", async () => {
    await using it = await withProfile('export SEEN="$(cat "$HOME/hidden" 2>/dev/null || echo nothing)"');
    await writeFile(join(it.home, "hidden"), "secret");
    const root = { path: { type: "special", value: { kind: "root" } }, access: "read" } as const;
    const hidden = { type: "path", path: `file://${it.home}/hidden` } as const;
    const write = { path: { type: "path", path: `file://${it.home}` }, access: "write" } as const;
    const entries = [root, write, { path: hidden, access: "deny" as const }];
    const sandbox: NonNullable<StartOptions["sandbox"]> = {
      permissions: {
        type: "managed",
        network: "restricted",
        file_system: { type: "restricted", entries },
      },
      windowsSandboxLevel: "disabled",
    };
    expect((await it.run("echo $SEEN")).stdout).toBe("secret\n");
    for (let time = 0; time < 2; time += 1)
      expect((await it.run("echo $SEEN", { sandbox })).stdout).toBe("nothing\n");
    expect(await it.runs()).toBe(2);
  });
});
