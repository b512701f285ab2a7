import { describeProgram } from "../../test/describe-program.ts";
import { dotnet } from "./dotnet.ts";

describeProgram(dotnet, {
  understood: {
    build: ["action project-code"],
    "test --filter Category=Unit": ["action project-code"],
    restore: ["action install"],
    "pub get": ["action install"],
    "pub publish": ["action remote-write"],
    "nuget push x": ["action remote-write"],
    "tool install -g x": ["action system"],
  },
  notUnderstood: ["", "no-such-verb"],
});
