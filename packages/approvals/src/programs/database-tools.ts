import { developerTool } from "./declaration/developer-tool.ts";

/** Migration tools run code of the project on the database that it configures. */
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
