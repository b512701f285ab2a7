import { readOptions } from "../options.ts";
import type { Inner, Unwrapper } from "../unwrap.ts";
import { derivedValue, type Value } from "../value.ts";

/** `-o ProxyCommand=…`, which ssh, scp and sftp share. */
function sshOptions(values: readonly Value[] = []): Inner[] {
  return values
    .filter(({ text }) => /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)\b/i.test(text))
    .map(({ text }) => ({
      kind: "script",
      source: derivedValue(text.replace(/^\w+[\s=]+/, "")),
      shell: "posix",
    }));
}

/** `scp -S program`, `sftp -D server`. */
export const sshCopy: Unwrapper = (args, name) => {
  const options = readOptions(args, { short: name === "scp" ? "cDFiJloPSX" : "BbcDFiJloPRSsX" });
  const programs = [...(options.values.get("S") ?? []), ...(options.values.get("D") ?? [])];
  return {
    transparent: false,
    inner: [
      ...sshOptions(options.values.get("o")),
      ...programs.map((source): Inner => ({ kind: "script", source, shell: "posix" })),
    ],
  };
};

export const ssh: Unwrapper = (args) => {
  const options = readOptions(args, { short: "BbcDEeFIiJLlmOoPpQRSWw", stopsAtOperand: true });
  const words = options.operands.slice(1);
  const inner = sshOptions(options.values.get("o"));
  if (words.length > 0)
    inner.push({
      kind: "script",
      source: derivedValue(words.map(({ text }) => text).join(" ")),
      shell: "posix",
    });
  return { transparent: false, inner };
};
