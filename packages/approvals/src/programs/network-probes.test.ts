import { describeProgram } from "../../test/describe-program.ts";
import { dig, kustomize, nc, redisCli } from "./network-probes.ts";

describeProgram(dig, {
  understood: {
    "+short example.test": ["connect example.test"],
    "example.test MX": ["connect example.test"],
  },
  notUnderstood: ["", "@1.2.3.4 example.test", "-f list", "<unknown>", "-x 1.2.3.4"],
});
describeProgram(nc, {
  understood: { "-zv localhost 5432": ["connect localhost"], "-z -w 2 db.test 5432": ["connect db.test"] },
  notUnderstood: ["localhost 5432", "-l 80", "-z localhost", "-e sh -z a 1", "-z <unknown> 1"],
});
describeProgram(redisCli, {
  understood: { "-p 6379 ping": ["connect localhost"], "-h cache.test info": ["connect cache.test"] },
  notUnderstood: ["", "flushall", "-h cache.test flushall", "-u redis://x ping", "eval x 0", "-h <unknown>"],
});
describeProgram(kustomize, {
  understood: {
    "build overlays/x": ["action project-code", "action remote-read"],
    "build ../x": ["action project-code", "action remote-read", "write ../x", "execute ../x"],
  },
  notUnderstood: ["edit set image x", "build --enable-exec x", "build --helm-command=./x y"],
});
