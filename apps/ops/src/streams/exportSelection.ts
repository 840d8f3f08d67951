// The selection of an export on the command line, and the log that it is read from.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createRawClient, type RawClient } from '@paylog/event-store/connection/calls'
import { type ExportSelection, selectionProblem } from '@paylog/event-store/export/selection'
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

export const selectionOptions = {
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
export function parseSelection(
  given: { readonly [Name in keyof typeof selectionOptions]?: string | undefined },
  now: number,
): ExportSelection {
  const { category, stream, type } = given
  const since = given.since === undefined ? undefined : readSince(given.since, now, '--since')
  const until = given.until === undefined ? undefined : readSince(given.until, now, '--until')
  const selection = {
    ...(category === undefined ? {} : { category }),
    ...(stream === undefined ? {} : { stream }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
  const problem = selectionProblem(selection, now)
  if (problem !== undefined) throw new UsageError(`--${problem.field} ${problem.message}`)
  return selection
}

/** A warning for a probably mistyped category. */
export function categoryWarning({ category }: ExportSelection): string | undefined {
  if (category === undefined || categories.some((known) => known === category)) return undefined
  return `Paylog has no category ${category}. It has ${categories.join(', ')}.`
}
