import { describeProgram } from "../../test/describe-program.ts";
import { ssh } from "./ssh.ts";

describeProgram(ssh, {
  understood: {
    host: ["action remote-write", "send host"],
    "-p 22 user@host.test ls -la": ["action remote-write", "send user@host.test"],
    "-o BatchMode=yes -o ConnectTimeout=5 host true": ["action remote-write", "send host"],
  },
  notUnderstood: [
    "",
    "-o ProxyCommand=id host",
    "-oProxyCommand=id host",
    "-o LocalCommand=id host",
    "-o BatchMode=yes,x host",
    "host -oProxyCommand=id",
    "host <unknown>",
    "-L 1:a:2 host",
    "-R 1:a:2 host",
    "-D 1 host",
    "-J a host",
    "-F cfg host",
    "-A host",
    "-E log host",
    "-S ctl host",
    "-W a:1 host",
    "'-oProxyCommand=id'",
    "<unknown>",
    "-- -oProxyCommand=id",
    "ssh://host/x",
    "user@-x",
  ],
});
