// The log that an export is made from or compared with.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createRawClient, type RawClient } from '@paylog/event-store/raw/rawClient'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { withInterrupt } from '../withInterrupt.ts'

/** Longer than any answer takes that a healthy server gives. */
const callTimeoutMs = 20_000
/** A server that leaves out most of the log by itself is silent meanwhile. */
const filteredCallTimeoutMs = 600_000

/** @throws ConfigError */
export function openRawLog(environment: NodeJS.ProcessEnv, options: { readonly isFiltered: boolean }): RawClient {
  const { EVENTSTORE_URL } = loadConfig(Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) }), environment)
  const timeoutMs = options.isFiltered ? filteredCallTimeoutMs : callTimeoutMs
  return createRawClient({ name: 'The event store', connectionString: EVENTSTORE_URL, timeoutMs })
}

/**
 * Reads the log until Ctrl-C, which also cuts off what it waits for.
 * @param work fails on its own once the signal has aborted, or ends
 * @throws OpsError `interrupted` when it was, whatever came of the work
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
