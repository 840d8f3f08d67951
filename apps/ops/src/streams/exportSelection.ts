// The filters of an export on the command line, and the log that it is read from.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createRawClient, type RawClient } from '@paylog/event-store/connection/calls'
import { type ExportFilters, filterProblem } from '@paylog/event-store/export/filters'
import { categories } from '@paylog/event-store/streamName'
import { Type } from 'typebox'
import { OpsError, readSince, UsageError } from '../command.ts'
import { withInterrupt } from '../withInterrupt.ts'

/** @throws ConfigError */
export function openRawLog(environment: NodeJS.ProcessEnv): RawClient {
  const { EVENTSTORE_URL } = loadConfig(Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) }), environment)
  return createRawClient({ name: 'The event store', connectionString: EVENTSTORE_URL })
}

/**
 * Runs work that reads the log until Ctrl-C, which also ends pending reads.
 * @param work rejects or returns once the signal has aborted
 * @throws OpsError `interrupted` when it was, even if `work` succeeded
 */
export async function untilInterrupted<Result>(
  { log, errors }: { readonly log: RawClient; readonly errors: Writable },
  interrupted: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  try {
    return await withInterrupt(errors, async (signal) => {
      signal.addEventListener('abort', () => void log.close())
      try {
        return await work(signal)
      } catch (error) {
        throw signal.aborted ? new OpsError(interrupted, { cause: error }) : error
      }
    })
  } finally {
    await log.close()
  }
}

export const filterOptions = {
  category: { type: 'string' },
  stream: { type: 'string' },
  type: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
} as const

/**
 * @param now the time that durations are subtracted from, in ms
 * @throws UsageError
 */
export function parseFilters(
  given: { readonly [Name in keyof typeof filterOptions]?: string | undefined },
  now: number,
): ExportFilters {
  const { category = null, stream = null, type = null } = given
  const timeOf = (name: 'since' | 'until') =>
    given[name] === undefined ? null : new Date(readSince(given[name], now, `--${name}`)).toISOString()
  const filters = { category, stream, type, since: timeOf('since'), until: timeOf('until') }
  const problem = filterProblem(filters, now)
  if (problem !== undefined) throw new UsageError(`--${problem.field} ${problem.message}`)
  return filters
}

/** A warning for a probably mistyped category. */
export function categoryWarning({ category }: ExportFilters): string | undefined {
  if (category === null || categories.some((known) => known === category)) return undefined
  return `Paylog has no category ${category}. It has ${categories.join(', ')}.`
}
