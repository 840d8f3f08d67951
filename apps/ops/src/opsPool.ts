// Connections of the command line to Postgres.
import type { Writable } from 'node:stream'
import { createPool } from '@paylog/runtime/postgres/postgres'
import { createLog, type Logger } from '@paylog/runtime/telemetry/log'

export type Pool = ReturnType<typeof createPool>

/** @param options `errors` is where what happens between two statements is told, from `level` on */
export function opsPool(
  databaseUrl: string,
  options: { readonly max: number; readonly errors: Writable; readonly level?: 'warn' | 'fatal' },
): { readonly pool: Pool; readonly log: Logger } {
  const { max, errors, level = 'warn' } = options
  const log = createLog({ app: 'ops', level }, errors)
  return { pool: createPool({ databaseUrl, applicationName: 'paylog ops', max, log }), log }
}
