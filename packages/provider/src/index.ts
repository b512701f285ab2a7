// One contract over coding agents for fleet runners.
export {};
