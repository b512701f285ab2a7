import { readOptions } from "../options.ts";
import type { Unwrapper } from "../unwrap.ts";

/** `docker run image command…`, `docker exec container command…`, `kubectl exec pod -- command…`. */
export const container: Unwrapper = (args) => {
  const options = readOptions(args, {
    stopsAtOperand: true,
    short: "Hcln",
    long: ["--context", "--namespace", "--kubeconfig", "--host"],
  });
  let [verb, ...rest] = options.operands;
  if (verb?.text === "compose" || verb?.text === "container") {
    const nested = readOptions(rest, {
      stopsAtOperand: true,
      short: "fp",
      long: ["--file", "--project-name", "--profile", "--env-file"],
    });
    [verb, ...rest] = nested.operands;
  }
  if (verb?.text !== "exec" && verb?.text !== "run") return { transparent: false, inner: [] };
  const inside = readOptions(rest, {
    stopsAtOperand: true,
    short: "epuvwlacmhn",
    long: [
      "--env",
      "--env-file",
      "--name",
      "--network",
      "--publish",
      "--user",
      "--volume",
      "--workdir",
      "--mount",
      "--entrypoint",
      "--platform",
      "--memory",
      "--cpus",
      "--label",
      "--add-host",
      "--hostname",
      "--gpus",
      "--index",
      "--container",
      "--namespace",
      "--image",
    ],
  });
  const after = inside.operands.slice(1);
  const words = after[0]?.text === "--" ? after.slice(1) : after;
  const argv = [...(inside.values.get("--entrypoint") ?? []).filter(({ text }) => text !== ""), ...words];
  return { transparent: false, inner: argv.length === 0 ? [] : [{ kind: "command", argv }] };
};
