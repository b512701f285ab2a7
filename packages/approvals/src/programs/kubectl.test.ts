import { describeProgram } from "../../test/describe-program.ts";
import { kubectl } from "./kubectl.ts";

const read = ["action remote-read"];
const change = ["action remote-write"];

describeProgram(kubectl, {
  understood: {
    "get pods -n dev": read,
    "logs deploy/api --tail=100": read,
    "rollout status deploy/web": read,
    "get secret x -o yaml": ["action remote-read", "action credentials"],
    "delete pod x": change,
    "apply -f x.yaml": change,
    "config current-context": read,
  },
  notUnderstood: [
    "",
    "--namespace=x",
    "--kubeconfig x get pods",
    "get pods --server=https://host.example",
    "get pods -o jsonpath-file=x",
    "plugin list",
    "config view",
  ],
});
