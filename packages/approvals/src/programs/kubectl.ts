import {
  declareProgram,
  flag,
  type CommandDeclaration,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";

/** `--kubeconfig`, `--server` and `--token` choose another cluster or run a plug-in: not declared. */
const COMMON: OptionTable = {
  "-A, --all-namespaces": flag,
  "-c, --container": value("data"),
  "-f, --follow": flag,
  "-l, --selector": value("data"),
  "-n, --namespace": value("data"),
  "-o, --output": value(/^(?:json|yaml|name|wide|jsonpath=.*|custom-columns=.*|go-template=.*)$/),
  "-p, --previous": flag,
  "-w, --watch": flag,
  "--all-containers": flag,
  "--context": value("data"),
  "--field-selector": value("data"),
  "--no-headers": flag,
  "--show-labels": flag,
  "--since": value("data"),
  "--sort-by": value("data"),
  "--tail": value("data"),
  "--timeout": value("data"),
  "--timestamps": flag,
};

const reads: CommandDeclaration = {
  options: COMMON,
  operands: { rest: "data" },
  effects: [action("remote-read")],
  // `kubectl get secret -o yaml` prints secrets.
  examine: ({ operands }) =>
    operands.some(({ text }) => text === undefined || /(?:^|,)secrets?(?:[./,]|$)/i.test(text))
      ? [action("credentials")]
      : [],
};

const changes: CommandDeclaration = {
  operands: { rest: "data", acceptsAnyWord: true },
  examine: examineChange,
};

/** The words of a dry run besides the files. Files must not be addresses. */
const DRY_RUN =
  /^(?:--dry-run=(?:client|server)|-R|--recursive|-o=?(?:json|name|yaml)|--output=(?:json|name|yaml))$/;
const FILE = /^(?:-f=|-f|--filename=)(?![-=])([^:]+)$/;

/** A call counts as a dry run only if every word is known to fit: a later option could make it a real change. */
function examineChange({ operands }: ParsedCall): readonly Effect[] {
  const texts = operands.map(({ text, isGlob }) => (isGlob === true ? undefined : text));
  const words = texts.flatMap((text, at) => {
    if (text === "-f" || text === "-o") return [];
    const option = texts[at - 1];
    return [text !== undefined && (option === "-f" || option === "-o") ? `${option}=${text}` : text];
  });
  const isTry =
    words.some((word) => word?.startsWith("--dry-run=") === true) &&
    words.every((word) => word !== undefined && (DRY_RUN.test(word) || FILE.test(word)));
  if (!isTry) return [action("remote-write")];
  const files = words.flatMap((word) => FILE.exec(word ?? "")?.[1] ?? []);
  return [action("remote-read"), ...files.map((file): Effect => ({ kind: "read", path: { text: file } }))];
}

export const kubectl = declareProgram({
  names: ["kubectl", "oc"],
  options: { "-n, --namespace": value("data"), "--context": value("data") },
  subcommands: {
    annotate: changes,
    "api-resources": reads,
    "api-versions": reads,
    apply: changes,
    "cluster-info": { effects: [action("remote-read")] },
    // Some distributions wrap kubectl in a launcher that connects for every call.
    config: {
      subcommands: { "current-context": reads, "get-clusters": reads, "get-contexts": reads },
    },
    cordon: changes,
    create: changes,
    delete: changes,
    describe: reads,
    drain: changes,
    edit: changes,
    events: reads,
    exec: changes,
    explain: reads,
    get: reads,
    label: changes,
    logs: reads,
    patch: changes,
    rollout: {
      subcommands: {
        history: reads,
        pause: changes,
        restart: changes,
        resume: changes,
        status: reads,
        undo: changes,
      },
    },
    run: changes,
    scale: changes,
    set: changes,
    taint: changes,
    top: reads,
    uncordon: changes,
    version: reads,
    wait: reads,
  },
});
