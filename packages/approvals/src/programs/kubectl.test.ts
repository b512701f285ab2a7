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
    "get secrets.v1 -o yaml": ["action remote-read", "action credentials"],
    "get pods,secret/x -o yaml": ["action remote-read", "action credentials"],
    "get secretstores": read,
    "delete pod x": change,
    "apply -f x.yaml": change,
    "apply -f k8s --dry-run=server": ["action remote-read", "read k8s"],
    "apply --dry-run=client -o yaml -R --filename=k8s/a.yaml": ["action remote-read", "read k8s/a.yaml"],
    "apply -f x.yaml --dry-run=none": change,
    "apply -f x.yaml --dry-run=server --dry-run=none": change,
    "apply -f x.yaml --dry-run": change,
    "apply -f x.yaml --dry-run=server --server=https://host.example": change,
    "apply -f https://host.example/x.yaml --dry-run=server": change,
    "apply -f <unknown> --dry-run=server": change,
    "apply -f - --dry-run=server": change,
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
