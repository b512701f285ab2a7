import { describeProgram } from "../../test/describe-program.ts";
import { aws } from "./aws.ts";

describeProgram(aws, {
  understood: {
    "s3 ls": ["action remote-read"],
    "s3 ls s3://bucket/x --recursive": ["action remote-read"],
    "ec2 describe-instances --region eu-west-1": ["action remote-read"],
    "sts get-caller-identity": ["action remote-read"],
  },
  notUnderstood: [
    "s3 cp a s3://b",
    "s3 ls --endpoint-url http://host.example",
    "secretsmanager get-secret-value --secret-id x",
    "ec2 terminate-instances --instance-ids x",
    "<unknown> ls",
    "configure",
  ],
});
