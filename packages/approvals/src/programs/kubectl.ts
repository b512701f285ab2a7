import {
  declareProgram,
  flag,
  type CommandDeclaration,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

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
    operands.some(({ text }) => text === undefined || /^secrets?(?:\/|$|,)|,secrets?/i.test(text))
      ? [action("credentials")]
      : [],
};

const changes: CommandDeclaration = {
  operands: { rest: "data", acceptsAnyWord: true },
  effects: [action("remote-write")],
};

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
