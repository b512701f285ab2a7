import { readOptions } from "../options.ts";
import type { Unwrapper } from "../unwrap.ts";

export const tar: Unwrapper = (args) => {
  const options = readOptions(args, {
    short: "IF",
    long: [
      "--to-command",
      "--use-compress-program",
      "--checkpoint-action",
      "--rsh-command",
      "--rmt-command",
      "--info-script",
      "--new-volume-script",
    ],
  });
  // In the old style without a dash the values follow in the order of the letters: not worth telling apart.
  if (/^[a-zA-Z]*[IF][a-zA-Z]*$/.test(args[0]?.text ?? ""))
    return { transparent: false, inner: [{ kind: "opaque", what: "tar with a program of its own" }] };
  const sources = [
    "--to-command",
    "--use-compress-program",
    "--rsh-command",
    "--rmt-command",
    "--info-script",
    "--new-volume-script",
    "I",
    "F",
  ].flatMap((name) => options.values.get(name) ?? []);
  const actions = (options.values.get("--checkpoint-action") ?? []).flatMap((value) =>
    value.text.startsWith("exec=") ? [{ ...value, text: value.text.slice(5) }] : [],
  );
  return {
    transparent: false,
    inner: [...sources, ...actions].map((source) => ({ kind: "script", source, shell: "posix" })),
  };
};

export const rsync: Unwrapper = (args) => {
  const options = readOptions(args, { short: "e", long: ["--rsh", "--rsync-path"] });
  const sources = ["e", "--rsh", "--rsync-path"].flatMap((name) => options.values.get(name) ?? []);
  return { transparent: false, inner: sources.map((source) => ({ kind: "script", source, shell: "posix" })) };
};
