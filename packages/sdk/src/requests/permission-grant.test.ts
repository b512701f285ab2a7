import type { v2 } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clampGrant, type PermissionGrant } from "./permission-grant.ts";

function rule(path: string, access: v2.FileSystemAccessMode): v2.FileSystemSandboxEntry {
  return { path: { type: "path", path }, access };
}

const asked: v2.RequestPermissionProfile = {
  network: { enabled: true },
  fileSystem: { read: ["/etc"], write: ["/opt/x", "/opt/y"] },
};

describe("a grant of permissions", () => {
  it("is the whole request if all of it is granted", () => {
    expect(clampGrant(asked, asked)).toEqual({
      network: { enabled: true },
      fileSystem: {
        read: null,
        write: null,
        entries: [rule("/etc", "read"), rule("/opt/x", "write"), rule("/opt/y", "write")],
      },
    });
  });

  it("is empty if nothing is granted, or nothing of it was requested", () => {
    expect(clampGrant(asked, {})).toEqual({});
    expect(clampGrant(asked, { network: null, fileSystem: null })).toEqual({});
    const none = { network: null, fileSystem: null };
    expect(clampGrant(none, { network: { enabled: true }, fileSystem: { write: ["/"] } })).toEqual({});
    expect(clampGrant(asked, { fileSystem: { write: ["/var", "relative", "/opt/xy"] } })).toEqual({});
  });

  it("may be partial: fewer paths, a subfolder, or less access", () => {
    const part = clampGrant(asked, { fileSystem: { read: ["/opt/y"], write: ["/opt/x/deep"] } });
    expect(part.fileSystem?.entries).toEqual([rule("/opt/y", "read"), rule("/opt/x/deep", "write")]);
  });

  it("is reduced to the request if it exceeds it", () => {
    const grant = clampGrant(asked, { fileSystem: { write: ["/"] } });
    expect(grant.fileSystem?.entries).toEqual([
      rule("/etc", "read"),
      rule("/opt/x", "write"),
      rule("/opt/y", "write"),
    ]);
    const dotted = clampGrant(asked, { fileSystem: { write: ["/opt/x/../../etc/passwd"] } });
    expect(dotted.fileSystem?.entries).toEqual([rule("/etc/passwd", "read")]);
  });

  it("is the intersection if a spread request has one list shortened", () => {
    const entries = [rule("/opt/x", "write"), rule("/opt/y", "write")];
    const request = { network: null, fileSystem: { read: null, write: ["/opt/x", "/opt/y"], entries } };
    const grant = clampGrant(request, { fileSystem: { ...request.fileSystem, write: ["/opt/x"] } });
    expect(grant.fileSystem?.entries).toEqual([rule("/opt/x", "write")]);
  });

  it("matches patterns and special paths only with themselves", () => {
    const glob: v2.FileSystemSandboxEntry = {
      path: { type: "glob_pattern", pattern: "/a/**" },
      access: "write",
    };
    const tmp: v2.FileSystemSandboxEntry = {
      path: { type: "special", value: { kind: "tmpdir" } },
      access: "write",
    };
    const request = {
      network: null,
      fileSystem: { read: null, write: null, entries: [glob, tmp], globScanMaxDepth: 3 },
    };
    expect(clampGrant(request, { fileSystem: { entries: [glob] } })).toEqual({
      fileSystem: { read: null, write: null, entries: [glob], globScanMaxDepth: 3 },
    });
    expect(clampGrant(request, { fileSystem: { write: ["/a/b"] } })).toEqual({});
  });
});

const path = fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }).map((parts) => `/${parts.join("/")}`);
const access = fc.constantFrom<v2.FileSystemAccessMode>("read", "write", "deny");
const rules = fc.array(fc.tuple(path, access).map(([at, what]) => rule(at, what)));
const network = fc.constantFrom(null, { enabled: true }, { enabled: false }, { enabled: null });

const ranks = { none: 0, deny: 0, read: 1, write: 2 } as const;

/** What a set of rules allows at a path, computed independently: the longest matching rule decides. */
function allowed(entries: readonly v2.FileSystemSandboxEntry[], at: string): number {
  const above = entries.flatMap(({ path: where, access: what }) =>
    where.type === "path" && (where.path === "/" || at === where.path || at.startsWith(`${where.path}/`))
      ? [{ depth: where.path.length, rank: ranks[what] }]
      : [],
  );
  const depth = Math.max(...above.map((one) => one.depth));
  return Math.min(...above.filter((one) => one.depth === depth).map((one) => one.rank), above.length ? 2 : 0);
}

describe("any grant for any request", () => {
  it("allows at every path the lower of the requested and the granted access", () => {
    fc.assert(
      fc.property(rules, rules, path, (wanted, granted, at) => {
        const request = { network: null, fileSystem: { read: null, write: null, entries: wanted } };
        const { fileSystem } = clampGrant(request, { fileSystem: { entries: granted } });
        const least = Math.min(allowed(wanted, at), allowed(granted, at));
        expect(allowed(fileSystem?.entries ?? [], at)).toBe(least);
      }),
      { numRuns: 500 },
    );
  });

  it("includes the network only if it was requested and granted", () => {
    fc.assert(
      fc.property(network, network, (wanted, granted) => {
        const grant: PermissionGrant["permissions"] = { network: granted };
        const given = clampGrant({ network: wanted, fileSystem: null }, grant).network?.enabled === true;
        expect(given).toBe(wanted?.enabled === true && granted?.enabled === true);
      }),
    );
  });
});
