import { expect, it } from "vitest";
import { HARMLESS_SSH_OPTION, isHost } from "./ssh-host.ts";

it("recognises plain hosts", () => {
  for (const host of ["a", "user@a.test", "10.0.0.1"]) expect(isHost(host)).toBe(true);
  for (const host of ["-oProxyCommand=id", "a b", "user@-x", "ssh://a", "a:b", "", "a@b@c"])
    expect(isHost(host)).toBe(false);
});

it("recognises options that are harmless as a whole", () => {
  expect(HARMLESS_SSH_OPTION.exec("BatchMode=yes")?.[0]).toBe("BatchMode=yes");
  expect(HARMLESS_SSH_OPTION.exec("ProxyCommand=id")).toBeNull();
});
