import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { definePolicy, evaluatePolicy, type PermissionProfile, type PolicyInput } from "../src/index.ts";
import { readEndpoint } from "../src/network/endpoint.ts";

const workspace = { roots: ["/w"], home: "/home/me" };

describe("a host", () => {
  const judge = (host: string, input: PolicyInput = {}, protocol = "https") => {
    const { decision, rule } = evaluatePolicy(definePolicy({ workspace, ...input }), {
      kind: "network",
      host,
      protocol,
    });
    return `${decision} ${rule}`;
  };

  it("is matched by name, wildcard and port", () => {
    const network = {
      allow: ["api.example.org", "*.cdn.example.org", "db.example.org:5432"],
      deny: ["bad.cdn.example.org"],
    };
    expect(judge("api.example.org", { network })).toBe("allow network.allow");
    expect(judge("API.Example.org.", { network })).toBe("allow network.allow");
    expect(judge("x.api.example.org", { network })).toBe("ask default");
    expect(judge("a.cdn.example.org", { network })).toBe("allow network.allow");
    expect(judge("cdn.example.org", { network })).toBe("ask default");
    expect(judge("bad.cdn.example.org", { network })).toBe("deny network.deny");
    expect(judge("db.example.org", { network })).toBe("ask default");
    expect(judge("db.example.org:5432", { network })).toBe("allow network.allow");
    expect(judge("evilapi.example.org", { network })).toBe("ask default");
  });

  it("in a private range is subject to the policy, and the metadata service is always refused", () => {
    expect(judge("10.1.2.3")).toBe("ask network.private");
    expect(judge("192.168.0.1", { network: { private: "deny" } })).toBe("deny network.private");
    expect(judge("localhost")).toBe("allow network.loopback");
    expect(judge("127.0.0.1", { network: { loopback: "deny" } })).toBe("deny network.loopback");
    expect(judge("[::1]")).toBe("allow network.loopback");
    expect(judge("169.254.169.254", { preset: "danger-full-access", network: { allow: ["*"] } })).toBe(
      "deny safety/metadata-service",
    );
    expect(judge("printer.local")).toBe("ask network.private");
  });

  it.for(["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1"])(
    "written as %s is this machine",
    (host) => {
      expect(readEndpoint(`http://${host}/`)?.host).toBe("127.0.0.1");
    },
  );

  it.for([
    ["https://user:pw@evil.example@good.example/", undefined],
    ["https://good.example\\@evil.example/", undefined],
    ["https://good.example:443@evil.example/", "evil.example"],
    ["git@github.com:owner/repo.git", "github.com"],
    ["HTTP://EXAMPLE.com", "example.com"],
  ] as const)("in %s is not misread", ([url, host]) => {
    expect(readEndpoint(url)?.host).toBe(host);
  });
});

describe("permissions", () => {
  const judge = (permissions: PermissionProfile, input: PolicyInput = {}) =>
    evaluatePolicy(definePolicy({ workspace, ...input }), { kind: "permissions", permissions, cwd: "/w" });

  it.for<[string, PermissionProfile, PolicyInput?]>([
    ["allow", { fileSystem: { read: ["/usr/share/doc"], write: ["/w/out"] } }],
    ["ask", { network: { enabled: true }, fileSystem: { read: null, write: ["/w/out"] } }],
    ["ask", { fileSystem: { read: null, write: ["/w/out", "/data/x"] } }],
    [
      "deny",
      { network: { enabled: true }, fileSystem: { read: null, write: ["/w/out"] } },
      { default: "deny" },
    ],
    ["deny", { fileSystem: { read: null, write: ["/w/out", "/etc"] } }],
    ["deny", { fileSystem: { read: null, write: ["/data/x", "/"] } }],
    ["deny", { fileSystem: { read: null, write: ["/w/out", "/home/me/.ssh"] } }],
    ["deny", { fileSystem: { read: null, write: null } }],
  ])("are granted whole or not at all: %s", ([decision, permissions, input]) => {
    expect(judge(permissions, input).decision).toBe(decision);
  });

  it.for<[string, object, string]>([
    ["allow", { type: "special", value: { kind: "project_roots", subpath: "out" } }, "write"],
    ["allow", { type: "special", value: { kind: "minimal" } }, "read"],
    ["allow", { type: "glob_pattern", pattern: "/w/**/*.log" }, "write"],
    ["deny", { type: "special", value: { kind: "root" } }, "write"],
    ["deny", { type: "special", value: { kind: "novel" } }, "read"],
    ["deny", { type: "glob_pattern", pattern: "/**/*.log" }, "write"],
  ])("support special paths and globs: %s %j", ([decision, path, access]) => {
    const narrowing = { path: { type: "path", path: "/w/secret" }, access: "deny" };
    const entries = [{ path, access }, narrowing] as never;
    expect(judge({ fileSystem: { read: null, write: null, entries } }).decision).toBe(decision);
  });

  it("are never granted if they include a refused folder", () => {
    const path = fc.constantFrom(
      "/w",
      "/w/a",
      "/",
      "/etc",
      "/data",
      "/home/me/.ssh",
      "/tmp/x",
      "../src/x",
      "a",
    );
    const paths = fc.array(path, { maxLength: 4 });
    const presets = fc.constantFrom("read-only", "workspace-write", "developer", "danger-full-access");
    const refused = fc.constantFrom("/", "/etc", "/home/me/.ssh");
    fc.assert(
      fc.property(paths, paths, refused, presets, (read, others, one, preset) => {
        const permissions = { fileSystem: { read, write: [...others, one] } };
        expect(judge(permissions, { preset }).decision).toBe("deny");
      }),
    );
  });
});

describe("a tool of an MCP server", () => {
  const judge = (server: string, tool: string | undefined, input: PolicyInput = {}) =>
    evaluatePolicy(definePolicy({ workspace, ...input }), { kind: "mcpTool", server, tool }).decision;

  it("is allowed by server and tool", () => {
    const input: PolicyInput = {
      deny: [{ kind: "mcp", server: "git*", tool: "delete_*" }],
      additionalAllow: [{ kind: "mcp", server: "github" }],
    };
    expect(judge("github", "list_issues", input)).toBe("allow");
    expect(judge("github", "delete_repo", input)).toBe("deny");
    expect(judge("github", undefined, input)).toBe("ask");
    expect(judge("other", "x", input)).toBe("ask");
    expect(judge("other", "x", { preset: "danger-full-access" })).toBe("allow");
    expect(judge("other", "x", { preset: "read-only" })).toBe("deny");
  });
});

describe("an unknown request", () => {
  it("is denied, even where everything is allowed", () => {
    for (const preset of ["danger-full-access", "bypass"] as const) {
      expect(evaluatePolicy(definePolicy({ preset }), { kind: "unknown", method: "x/y" }).decision).toBe(
        "deny",
      );
    }
  });

  it("is left to a person if an MCP server asks a question", () => {
    expect(
      evaluatePolicy(definePolicy({ preset: "danger-full-access" }), {
        kind: "elicitation",
        server: "s",
        mode: "form",
      }).decision,
    ).toBe("ask");
  });
});

describe("a file system that ignores case", () => {
  const decide = (
    command: string,
    preset: "developer" | "danger-full-access",
    caseInsensitive = true,
  ): string => {
    const folders = { roots: ["/w"], home: "/Volumes/Data/Ann", temp: ["/Scratch/Tmp"] };
    const paths = [...command.matchAll(/\/\S+/g)].map(([path]) => path).concat("/Scratch", "/Volumes/Data");
    const real = Object.fromEntries(paths.map((path) => [path, path]));
    const request = { kind: "command", command, cwd: "/w" } as const;
    return evaluatePolicy(definePolicy({ preset, workspace: folders }), request, { real, caseInsensitive })
      .decision;
  };

  it("has one home folder, in any spelling", () => {
    expect(decide("rm -rf /Volumes/Data/Ann", "danger-full-access")).toBe("deny");
    expect(decide("rm -rf /volumes/data/ANN", "danger-full-access")).toBe("deny");
  });

  it("has the same temporary folders", () => {
    const commands = ["rm -rf /Scratch/Tmp", "rm -rf /Scratch/Tmp/build", "touch /Scratch/Tmp/a"];
    expect(commands.map((command) => decide(command, "developer"))).toEqual(
      commands.map((command) => decide(command, "developer", false)),
    );
    expect(decide("rm -rf /Scratch/Tmp", "developer")).not.toBe("allow");
  });
});
