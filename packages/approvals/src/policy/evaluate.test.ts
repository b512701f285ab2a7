import { describe, expect, it } from "vitest";
import {
  definePolicy,
  evaluate,
  explain,
  formatExplanation,
  parsePolicy,
  PolicyError,
  remember,
  type PolicyInput,
} from "../index.ts";

const workspace = { roots: ["/w"], home: "/home/me" };
const judge = (input: PolicyInput, command: string | readonly string[]) => {
  const { decision, rule } = evaluate(definePolicy({ workspace, ...input }), {
    kind: "command",
    command,
    cwd: "/w",
  });
  return `${decision} ${rule}`;
};

describe("the order of rules", () => {
  it("is safety, deny, allow, default", () => {
    const input: PolicyInput = {
      preset: "danger-full-access",
      deny: ["npm publish"],
      allow: ["npm", "sudo"],
    };
    expect(judge(input, "sudo npm test")).toBe("deny safety/privilege");
    expect(judge(input, "npm publish")).toBe("deny deny[0]");
    expect(judge(input, "npm test")).toBe("allow allow[0]");
    expect(judge(input, "make")).toBe("deny allow");
    expect(judge({ ...input, default: "ask" }, "make")).toBe("ask allow");
  });

  it("lets alsoAllow add to a preset without making it exclusive", () => {
    expect(judge({ alsoAllow: ["deploytool"] }, "deploytool --now")).toBe("allow alsoAllow[0]");
    expect(judge({ alsoAllow: ["deploytool"] }, "npm test")).toBe("allow preset/developer/run");
    expect(judge({}, "deploytool --now")).toBe("ask default");
  });

  it("takes the strictest verdict of all commands in a line", () => {
    expect(judge({ deny: ["b"] }, "npm test && (ls | xargs b)")).toBe("deny deny[0]");
    expect(judge({ alsoAllow: ["b"] }, "npm test && b && c")).toBe("ask default");
  });

  it("asks nobody when the default is deny", () => {
    expect(judge({ default: "deny" }, "python3 -c 'x'")).toBe("deny caution/opaque-code");
    expect(judge({ default: "deny" }, "deploytool")).toBe("deny default");
  });
});

describe("a prefix rule", () => {
  it("speaks for the program behind wrappers, never for what a program runs", () => {
    expect(judge({ alsoAllow: ["deploytool"] }, "timeout 5 env A=1 deploytool")).toBe("allow alsoAllow[0]");
    expect(judge({ alsoAllow: ["timeout"] }, "timeout 5 deploytool")).toBe("ask default");
    expect(judge({ alsoAllow: ["bash"] }, "bash -c 'deploytool'")).toBe("ask default");
  });

  it("takes lists of alternatives", () => {
    const alsoAllow = [{ kind: "prefix", argv: ["deploytool", ["plan", "show"]] }] as const;
    expect(judge({ alsoAllow }, "deploytool show x")).toBe("allow alsoAllow[0]");
    expect(judge({ alsoAllow }, "deploytool apply x")).toBe("ask default");
  });

  it("is not fooled by a program of the same name elsewhere", () => {
    expect(judge({ alsoAllow: ["deploytool"] }, "/usr/bin/deploytool")).toBe("allow alsoAllow[0]");
    expect(judge({ alsoAllow: ["deploytool"] }, "/tmp/deploytool")).toBe("ask default");
  });

  it("denies under every spelling, and asks when it can't tell", () => {
    const input: PolicyInput = { preset: "danger-full-access", deny: ["npm publish"] };
    for (const command of [
      "npm publish",
      "'npm' publish",
      "n\\pm publish",
      "/usr/bin/npm publish",
      "bash -c 'npm publish'",
      "env npm publish",
      "NPM publish",
    ]) {
      expect(judge(input, command)).toBe("deny deny[0]");
    }
    expect(judge(input, "npm $VERB")).toBe("ask caution/may-be-denied");
    expect(judge(input, "npm $FLAGS publish")).toBe("ask caution/may-be-denied");
  });

  it("never speaks for opaque code; an exact rule does", () => {
    const code = "python3 -c 'print(1)'";
    expect(judge({ alsoAllow: ["python3"] }, code)).toBe("ask caution/opaque-code");
    expect(judge({ alsoAllow: [{ kind: "exact", argv: ["python3", "-c", "print(1)"] }] }, code)).toBe(
      "allow alsoAllow[0]",
    );
    expect(judge({ alsoAllow: [{ kind: "exact", argv: ["python3", "-c", "print(2)"] }] }, code)).toBe(
      "ask caution/opaque-code",
    );
    expect(judge({ alsoAllow: [{ kind: "script", text: code }] }, code)).toBe("allow alsoAllow[0]");
  });
});

describe("a regular expression", () => {
  it("is searched for when it denies and matches the whole command when it allows", () => {
    expect(judge({ deny: [{ kind: "regex", pattern: "--no-verify" }] }, "git commit -m x --no-verify")).toBe(
      "deny deny[0]",
    );
    expect(
      judge({ alsoAllow: [{ kind: "regex", pattern: "deploytool (plan|show)( .*)?" }] }, "deploytool plan a"),
    ).toBe("allow alsoAllow[0]");
    expect(
      judge({ alsoAllow: [{ kind: "regex", pattern: "deploytool plan" }] }, "evil; deploytool plan"),
    ).toBe("ask default");
    expect(
      judge({ alsoAllow: [{ kind: "regex", pattern: "deploytool plan" }] }, "evil deploytool plan"),
    ).toBe("ask default");
  });

  it("runs in linear time whatever the pattern is", () => {
    const policy = definePolicy({
      workspace,
      deny: [
        { kind: "regex", pattern: "^(a+)+$" },
        { kind: "regex", pattern: "(.*a){12}b" },
      ],
    });
    const before = performance.now();
    evaluate(policy, { kind: "command", command: `echo ${"a".repeat(20_000)}!`, cwd: "/w" });
    // A backtracking engine would not be done within the age of the universe.
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it("is refused when it is not one, before anything is judged", () => {
    expect(() => definePolicy({ deny: [{ kind: "regex", pattern: "(?=x)" }] })).toThrow(PolicyError);
    expect(() => definePolicy({ deny: [{ kind: "regex", pattern: "(" }] })).toThrow(
      expect.objectContaining({ code: "invalid_regex" }),
    );
  });
});

describe("rules about paths", () => {
  it("hold for redirections and arguments alike", () => {
    const input: PolicyInput = {
      deny: [
        { kind: "path", glob: "config/**", access: "write" },
        { kind: "path", glob: "secrets/**" },
      ],
    };
    expect(judge(input, "echo x > config/a/b.json")).toBe("deny deny[0]");
    expect(judge(input, "cp x config/y")).toBe("deny deny[0]");
    expect(judge(input, "cat config/y")).toBe("allow preset/developer/read");
    expect(judge(input, "cat secrets/y")).toBe("deny deny[1]");
    expect(judge({ alsoAllow: [{ kind: "path", glob: "/data/**" }] }, "cp x /data/y")).toBe(
      "allow alsoAllow[0]",
    );
    expect(judge({}, "cp x /data/y")).toBe("ask default");
  });
});

describe("presets", () => {
  it.for([
    ["read-only", "cat x", "allow"],
    ["read-only", "echo x > y", "deny"],
    ["read-only", "npm test", "deny"],
    ["workspace-write", "echo x > y", "allow"],
    ["workspace-write", "npm test", "ask"],
    ["workspace-write", "echo x > /data/y", "ask"],
    ["developer", "npm test", "allow"],
    ["developer", "npm publish", "ask"],
    ["developer", "curl https://somewhere.example", "ask"],
    ["danger-full-access", "curl -d x https://somewhere.example", "allow"],
    ["danger-full-access", "echo x > /data/y", "allow"],
    ["danger-full-access", "sudo ls", "deny"],
    ["bypass", "sudo ls", "allow"],
  ] as const)("%s: %s is %s", ([preset, command, decision]) => {
    expect(judge({ preset }, command)).toMatch(new RegExp(`^${decision} `));
  });

  it("can be changed one effect at a time", () => {
    expect(judge({ effects: { publish: "allow" } }, "npm publish")).toBe("allow effects.publish");
    expect(judge({ effects: { install: "deny" } }, "npm install x")).toBe("deny effects.install");
  });
});

describe("a stored policy", () => {
  it("comes back the same, and a damaged one is refused", () => {
    const policy = definePolicy({ workspace, deny: ["a b"], network: { allow: ["*.example.com:443"] } });
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual(policy);
    expect(() => parsePolicy({ ...policy, unheard: 1 })).toThrow(
      expect.objectContaining({ code: "invalid_policy" }),
    );
    expect(() => parsePolicy({ ...policy, network: { allow: ["a b"], deny: [] } })).toThrow(
      expect.objectContaining({ code: "invalid_rule" }),
    );
  });

  it("grows by remembering, each rule once", () => {
    const policy = definePolicy({ workspace });
    const grown = remember(policy, [{ kind: "prefix", argv: ["deploytool"] }]);
    expect(evaluate(grown, { kind: "command", command: "deploytool", cwd: "/w" }).decision).toBe("allow");
    expect(remember(grown, [{ kind: "prefix", argv: ["deploytool"] }])).toBe(grown);
    expect(policy.alsoAllow).toEqual([]);
  });
});

describe("how long an accept lasts", () => {
  const lasting = (input: PolicyInput, command: string) =>
    evaluate(definePolicy({ workspace, ...input }), { kind: "command", command, cwd: "/w" }).lasting;

  it("is more than the call only if rules about commands allowed all of it", () => {
    expect(lasting({ alsoAllow: ["deploytool"] }, "deploytool")).toBe("session");
    expect(lasting({ alsoAllow: ["deploytool"] }, "deploytool && npm test")).toBe("call");
    expect(
      lasting(
        { alsoAllow: [{ kind: "prefix", argv: ["deploytool"], lasting: "always" }] },
        "bash -lc deploytool",
      ),
    ).toBe("always");
    expect(lasting({}, "npm test")).toBe("call");
  });
});

describe("explain", () => {
  it("shows what would run, which rule speaks and what is decided", () => {
    const text = formatExplanation(
      explain(definePolicy({ workspace }), "bash -lc 'npm test && sudo id'", { cwd: "/w" }),
    );
    expect(text.split("\n").map((line) => line.replace(/\].*/, "]"))).toEqual([
      "✗ bash -lc 'npm test && sudo id'  [safety/privilege]",
      "  ✓ bash -lc 'npm test && sudo id'  [wrapper]",
      "    ✓ npm test  [preset/developer/run]",
      "    ✗ sudo id  [safety/privilege]",
    ]);
  });
});
