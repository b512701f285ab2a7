import { developerTool } from "./declaration/developer-tool.ts";

/** Migration tools run project code on the database that the project configures. */
export const databaseTools = developerTool({
  names: [
    "alembic",
    "dbmate",
    "diesel",
    "drizzle-kit",
    "flyway",
    "goose",
    "knex",
    "liquibase",
    "migrate",
    "prisma",
    "sqlc",
    "sqlx",
  ],
  otherwise: ["project-code"],
  prints: [],
});
