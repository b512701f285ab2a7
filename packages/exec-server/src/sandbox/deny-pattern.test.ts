import { describe, expect, test } from "vitest";
import { parseDenyPattern } from "./deny-pattern.ts";

const context = { cwd: "/w/one", workspaceRoots: ["/w/one", "/w/t[w]o"] };

function denies(pattern: string, path: string): boolean {
  return parseDenyPattern(pattern, context).some(({ base, matches }) =>
    matches ? path.startsWith(`${base}/`) && matches(path.slice(base.length + 1)) : path === base,
  );
}

describe("a deny pattern", () => {
  test.each([
    ["codex-project-roots://**/*.env", "/w/one/.env"],
    ["codex-project-roots://**/*.env", "/w/one/a/.b/x.env"],
    ["codex-project-roots://**/*.env", "/w/t[w]o/.env"],
    ["codex-project-roots://a/*/b.txt", "/w/one/a/.x/b.txt"],
    ["codex-project-roots://secrets/**", "/w/one/secrets"],
    ["codex-project-roots://plain.txt", "/w/one/plain.txt"],
    ["/opt/**/*.key", "/opt/.hidden/a.key"],
    ["file:///opt/a%20b/*.key", "/opt/a b/x.key"],
    ["*.env", "/w/one/.env"],
    ["**/.env*", "/w/one/sub/.env.local"],
    ["**/[!a].env", "/w/one/b.env"],
    ["**/*.{pem,key}", "/w/one/x.key"],
    ["**/!x", "/w/one/!x"],
    ["**/+(a)", "/w/one/+(a)"],
    ["../two/*.env", "/w/two/.env"],
    ["**/*.env", "/w/one/a\nb/\r\u2028/x\n.env"],
    ["**/{.env}", "/w/one/a/.env"],
    ["x{1..3}", "/w/one/x1..3"],
    ["{,a}.env", "/w/one/.env"],
    ["{a,{b,c}}.env", "/w/one/c.env"],
    ["{a/b,c}.env", "/w/one/a/b.env"],
    ["{**/,}.env", "/w/one/a/b/.env"],
    ["?.env", "/w/one/😀.env"],
    ["[😀-😂].env", "/w/one/😁.env"],
    ["[]a].env", "/w/one/].env"],
    ["[!]a].env", "/w/one/b.env"],
    ["[+--]env", "/w/one/-env"],
    ["[a-]env", "/w/one/-env"],
    ["[\\]\\-]env", "/w/one/-env"],
    [String.raw`\*.env`, "/w/one/*.env"],
    ["*.env/", "/w/one/x.env"],
    ["secret*/**/", "/w/one/secrets"],
    ["secret*/**", "/w/one/secrets/a/b"],
    ["**.env", "/w/one/a/b.env"],
    ["***/x", "/w/one/a/b/x"],
  ])("%s covers %s", (pattern, path) => {
    expect(denies(pattern, path)).toBe(true);
  });

  test.each([
    ["codex-project-roots://*.env", "/w/one/a/.env"],
    ["codex-project-roots://**/*.env", "/w/other/.env"],
    ["codex-project-roots://**/*.env", "/w/tw/.env"],
    ["**/[!a].env", "/w/one/a.env"],
    ["a?c", "/w/one/a/c"],
    ["a[!b]c", "/w/one/a/c"],
    ["a[/]c", "/w/one/a/c"],
    ["a*c", "/w/one/a/c"],
    [String.raw`\*.env`, "/w/one/x.env"],
    ["*.env", "/w/one/xenv"],
  ])("%s leaves %s alone", (pattern, path) => {
    expect(denies(pattern, path)).toBe(false);
  });

  test.each([
    "other://**/*.env",
    "https://host/*.env",
    "~/x/*.env",
    "**/[a.env",
    "file:///%zz*",
    "**/[z-a].env",
    "*.{env",
    "*.env}",
    "*\\",
    "x\\",
  ])("%s is refused", (pattern) => {
    expect(() => parseDenyPattern(pattern, context)).toThrow("sandbox can't be enforced");
  });

  test("that is relative is refused without a working directory", () => {
    expect(() => parseDenyPattern("*.env", { cwd: undefined, workspaceRoots: [] })).toThrow(
      "working directory",
    );
  });
});
