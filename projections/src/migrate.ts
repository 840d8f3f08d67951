// Where the tables of the read models come from.

/** For the runtime's `migrate`: numbered SQL files, applied once, forward only. */
export const readModelMigrations = {
  schema: 'read_models',
  directory: new URL('./migrations/', import.meta.url),
}
