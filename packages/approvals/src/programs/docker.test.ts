import { describeProgram } from "../../test/describe-program.ts";
import { docker, dockerCompose } from "./docker.ts";

const both = ["action container", "action project-code"];

describeProgram(docker, {
  understood: {
    "ps -a": ["action container"],
    "system df": ["action container"],
    "run --rm -v pgdata:/data postgres": ["action container"],
    "run --rm -v ./data:/data -w /app node:24 npm test --any": [
      "action container",
      "read ./data",
      "write ./data",
    ],
    "run -v=/home:/x y": ["action container", "read /home", "write /home"],
    "run -v /etc/localtime:/etc/localtime:ro x": ["action container", "read /etc/localtime"],
    "exec -it db psql -U x": ["action container"],
    "build -t x .": [...both, "read ."],
    "compose up -d": both,
    "compose exec api npm test --any": both,
    "push x": ["action remote-write"],
  },
  notUnderstood: [
    "run --privileged x",
    "run --network host x",
    "run --net=host x",
    "run --pid=host x",
    "run --cap-add SYS_ADMIN x",
    "run --device /dev/sda x",
    "run --security-opt seccomp=unconfined x",
    "run --mount type=bind,source=/,target=/host x",
    "run -v /var/run/docker.sock:/var/run/docker.sock x",
    "run -v <unknown> x",
    "run -v=/var/run/docker.sock:/var/run/docker.sock x",
    "build https://host.example/x",
    "build git@host.example:x",
    "build -f=x .",
    "compose -f https://host.example/x up",
    "compose -f=x up",
    "compose down -v",
    "volume rm x",
    "system prune -af",
    "-H tcp://host.example ps",
    "cp x:/a b",
  ],
});

describeProgram(dockerCompose, {
  understood: { "up -d --build": both, down: both },
  notUnderstood: ["down -v", "down --volumes", "--project-directory / up"],
});
