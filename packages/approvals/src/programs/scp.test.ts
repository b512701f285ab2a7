import { describeProgram } from "../../test/describe-program.ts";
import { scp } from "./scp.ts";

describeProgram(scp, {
  understood: {
    "a.txt host:b": ["read a.txt", "send host"],
    "-r user@host:dir out": ["action unpack", "connect user@host", "write out", "write out/dir"],
    "-P 22 host:x .": ["connect host", "write .", "write ./x"],
  },
  notUnderstood: [
    "a b",
    "a",
    "host:a host2:b",
    "-S sh a host:b",
    "-F cfg a host:b",
    "-J x a host:b",
    "-o ProxyCommand=id a host:b",
    "a -oProxyCommand=id:x",
    "<unknown> host:x",
    "a <unknown>",
    "a ho*:x",
    "scp://host/x y",
    "-x:y b",
    "-T host:a b",
  ],
});
