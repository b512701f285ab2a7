import { describeProgram } from "../../test/describe-program.ts";
import { wget } from "./wget.ts";

describeProgram(wget, {
  understood: {
    "https://a.test/owner/data.json": ["connect https://a.test/owner/data.json", "write data.json"],
    "-q https://a.test/x-1.tgz -O x.tgz": ["write x.tgz", "connect https://a.test/x-1.tgz"],
    "-qO- https://a.test": ["connect https://a.test"],
    "-P out https://a.test/": ["connect https://a.test/", "write out/index.html"],
    "--spider https://a.test": ["connect https://a.test"],
    "-nv -o log https://a.test/a": ["write log", "connect https://a.test/a", "write a"],
  },
  notUnderstood: [
    "-e use_proxy=yes https://a.test",
    "--exec=x https://a.test",
    "--config=x https://a.test",
    "-i list",
    "https://a.test/AGENTS%2Emd",
    "--post-data=x https://a.test",
    "--post-file=x https://a.test",
    "--method=PUT https://a.test",
    "--body-data=x https://a.test",
    "--use-askpass=sh https://a.test",
    "-r https://a.test",
    "-m https://a.test",
    "-p https://a.test",
    "--content-disposition https://a.test",
    "--output-doc=x https://a.test",
    "ftp://a.test/x",
    "file:///x",
    "<unknown>",
    "-P <unknown> https://a.test",
    "--header=x --referer=y https://a.test",
    "-x https://a.test",
    "--warc-file=x https://a.test",
    "--load-cookies x https://a.test",
  ],
});
