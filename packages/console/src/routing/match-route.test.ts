import { describe, expect, it } from "vitest";
import { matchRoute } from "./match-route.ts";

describe("matchRoute", () => {
  it.each([
    ["/", "home", {}],
    ["", "home", {}],
    ["/inbox", "inbox", {}],
    ["/inbox/", "inbox", {}],
    ["/s/abc", "session", { id: "abc" }],
    ["/s/a%2Fb", "session", { id: "a/b" }],
  ])("finds the route of %s", (path, name, params) => {
    expect(matchRoute(path)).toEqual({ name, params });
  });

  it.each(["/s", "/s/a/b", "/unknown", "/s/%E0%A4"])("finds none for %s", (path) => {
    expect(matchRoute(path)).toBeUndefined();
  });
});
