import { describeProgram } from "../../test/describe-program.ts";
import { gh } from "./gh.ts";

describeProgram(gh, {
  understood: {
    "pr view 12": ["action remote-read"],
    "run view 123 --log": ["action remote-read"],
    "api repos/o/r/pulls --jq .[0]": ["action remote-read"],
    "repo clone owner/repo": ["action git-fetch", "action unpack", "write repo"],
    "repo clone owner/repo ../x": ["action git-fetch", "action unpack", "write ../x"],
    "pr create --title x --body y": ["action remote-write"],
    "pr merge 3": ["action remote-write"],
  },
  notUnderstood: [
    "api -X DELETE repos/o/r",
    "api repos/o/r -f a=b",
    "api https://host.example/x",
    "auth token",
    "repo clone owner/repo -- --template=evil",
    "repo clone owner/repo -- -cx=y",
    "alias set x y",
    "extension install x/y",
    "pr view --web",
    "config set pager x",
  ],
});
