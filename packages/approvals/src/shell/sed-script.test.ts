import { describe, expect, it } from "vitest";
import { readSedScript } from "./sed-script.ts";

describe("readSedScript", () => {
  it.for([
    "e",
    "1e id",
    "1!e id",
    "$e id",
    "/x/e id",
    String.raw`\,x,e id`,
    "s/x/id/e",
    "s|x|id|ge",
    "s#a\\#b#id#e",
    "p;s,x,id,e",
    "/a/{s/x/y/;e id\n}",
  ])("sees that %s runs a command", (script) => {
    expect(readSedScript(script).runs).toBe(true);
  });

  it.for([
    "s/e/w/",
    "s/a/b/g;s/c/d/",
    "1,20p",
    "/start/,/end/p",
    ":e;N;$!be;s/x/ /g",
    "$a\\\ne id",
    "1i e id",
    "y/e/w/",
    "# e id",
    "/e /d",
  ])("sees that %s runs nothing and writes nothing", (script) => {
    expect(readSedScript(script)).toEqual({ runs: false, writes: [] });
  });

  it.for([
    ["w out", "out"],
    ["1w/etc/passwd", "/etc/passwd"],
    ["s|a|b|w out.txt", "out.txt"],
    ["s/a/b/gw out", "out"],
    ["/x/!W out", "out"],
  ])("finds the file that %s writes", ([script = "", file]) => {
    expect(readSedScript(script).writes).toEqual([file]);
  });
});
