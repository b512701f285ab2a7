import { describe, expect, it } from "vitest";
import { permissionView, toGrant } from "./permission-rows.ts";

const listed = permissionView({
  network: { enabled: true },
  fileSystem: { read: ["/etc/hosts"], write: ["/srv/a", "/srv/b"] },
});

const withEntries = permissionView({
  network: null,
  fileSystem: {
    read: ["/ignored"],
    write: null,
    entries: [
      { path: { type: "path", path: "/srv/a" }, access: "write" },
      { path: { type: "glob_pattern", pattern: "/srv/**/*.log" }, access: "read" },
      { path: { type: "special", value: { kind: "project_roots", subpath: "docs" } }, access: "read" },
      { path: { type: "path", path: "/srv/a/.git" }, access: "deny" },
    ],
  },
});

describe("permissionView", () => {
  it("lists network, written and read paths", () => {
    expect(listed.rows.map(({ access, label }) => `${access} ${label}`)).toEqual([
      "network Network access",
      "write /srv/a",
      "write /srv/b",
      "read /etc/hosts",
    ]);
  });

  it("prefers entries, and lists denied paths separately", () => {
    expect(withEntries.rows.map(({ label }) => label)).toEqual([
      "/srv/a",
      "/srv/**/*.log",
      "the project's folders: docs",
    ]);
    expect(withEntries.denied).toEqual(["/srv/a/.git"]);
  });

  it("has no rows for a request without permissions", () => {
    expect(permissionView({ network: { enabled: false }, fileSystem: null }).rows).toEqual([]);
  });
});

describe("toGrant", () => {
  it("grants nothing if no row is selected", () => {
    expect(toGrant(listed.rows, new Set())).toBe("nothing");
  });

  it("grants the whole request if all rows are selected", () => {
    expect(toGrant(listed.rows, new Set(listed.rows.map(({ key }) => key)))).toBe("whole");
  });

  it("grants the selected rows, and refuses the network unless it is selected", () => {
    expect(toGrant(listed.rows, new Set(["write /srv/b"]))).toEqual({ network: false, write: ["/srv/b"] });
    expect(toGrant(listed.rows, new Set(["network", "read /etc/hosts"]))).toEqual({
      network: true,
      read: ["/etc/hosts"],
    });
  });

  it("omits rows that can't be granted separately, unless everything is granted", () => {
    const keys = withEntries.rows.map(({ key }) => key);
    expect(toGrant(withEntries.rows, new Set(keys))).toBe("whole");
    expect(toGrant(withEntries.rows, new Set(keys.slice(0, 2)))).toEqual({
      network: false,
      write: ["/srv/a"],
    });
    expect(toGrant(withEntries.rows, new Set(keys.slice(1, 2)))).toBe("nothing");
  });
});
