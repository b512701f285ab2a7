import { declareProgram, flag, information, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

/** Reads that print no secrets. Everything else, including `--endpoint-url`, is not understood. */
const READS = /^(?:s3 ls|sts get-caller-identity|\S+ (?:describe|list)-[\w-]+|logs tail)$/;

export const aws = declareProgram({
  names: ["aws"],
  options: {
    "--follow": flag,
    "--human-readable": flag,
    "--max-items": value("number"),
    "--no-cli-pager": flag,
    "--no-paginate": flag,
    "--output": value(["json", "table", "text", "yaml"]),
    "--profile": value("data"),
    "--query": value("data"),
    "--recursive": flag,
    "--region": value("data"),
    "--since": value("data"),
    "--summarize": flag,
    "--version": information,
  },
  operands: { rest: "data" },
  examine: ({ operands }) => {
    const [service, verb] = operands;
    const call = `${service?.text} ${verb?.text}`;
    return READS.test(call) ? [action("remote-read")] : `"${call}" is not declared`;
  },
});
