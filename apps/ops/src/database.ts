// Postgres connections of the commands.
import type { Writable } from 'node:stream'
import { listSettings } from '@paylog/deliveries/operations/deliveryList'
import { listEndpoints } from '@paylog/deliveries/operations/endpointList'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog, type Logger } from '@paylog/runtime/telemetry/log'

export type Pool = ReturnType<typeof createPool>

/** @param options `errors` receives log lines of idle connections, from `level` up */
export function opsPool(
  databaseUrl: string,
  options: {
    readonly max: number
    readonly errors: Writable
    readonly level?: 'warn' | 'fatal'
    /** Of its sessions. */
    readonly settings?: string
  },
): { readonly pool: Pool; readonly log: Logger } {
  const { max, errors, level = 'warn', settings } = options
  const log = createLog({ app: 'ops', level }, errors)
  return {
    pool: createPool({ databaseUrl, applicationName: 'paylog ops', max, log, ...(settings && { settings }) }),
    log,
  }
}

/** Runs `work` with a connection pool to the deliveries. @throws errors of `work` and of the database */
export async function withDeliveries<Result>(
  databaseUrl: string,
  errors: Writable,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const { pool } = opsPool(databaseUrl, { max: 2, errors, settings: listSettings })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

export const deliveriesText = (count: number) => (count === 1 ? '1 delivery' : `${count} deliveries`)

/** The message for an unknown endpoint, with the known ones. */
export async function unknownEndpoint(pool: Pool, node: string): Promise<string> {
  const known = (await listEndpoints(pool)).map((row) => row.node)
  return `There is no endpoint ${node}. ${known.length === 0 ? 'None has been configured yet.' : `Known endpoints: ${known.join(', ')}.`}`
}
