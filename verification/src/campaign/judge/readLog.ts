// Reads the log as an auditor does: with the published client of the event store.
import { setTimeout as pause } from 'node:timers/promises'
import { type AllStreamRecordedEvent, EventStoreDBClient, FORWARDS, START } from '@eventstore/db-client'
import { readFields } from '../../canonicalOf.ts'
import { leafOf } from './auditTree.ts'
import type { LogEvent } from './observations.ts'

const retryPauseMs = 200

/**
 * @param from the last known event; the reading begins with it
 * @throws when the event store does not respond until `signal` aborts
 */
export async function readLog(
  connectionString: string,
  { from, signal }: { readonly from: LogEvent | undefined; readonly signal: AbortSignal },
): Promise<LogEvent[]> {
  const commit = from === undefined ? undefined : BigInt(from.position)
  const fromPosition = commit === undefined ? START : { commit, prepare: commit }
  for (;;) {
    signal.throwIfAborted()
    const client = EventStoreDBClient.connectionString(connectionString)
    const dispose = () => void client.dispose()
    signal.addEventListener('abort', dispose)
    try {
      const events: LogEvent[] = []
      for await (const { event } of client.readAll({ direction: FORWARDS, fromPosition, resolveLinkTos: false }))
        if (event !== undefined && !event.streamId.startsWith('$')) events.push(logEventOf(event))
      return events
    } catch {
      // The event store may be starting.
      await pause(retryPauseMs)
    } finally {
      signal.removeEventListener('abort', dispose)
      dispose()
    }
  }
}

function logEventOf(event: AllStreamRecordedEvent): LogEvent {
  const { streamId: stream, revision, id, type, data, metadata, position, created } = event
  // Events are recorded as `JSON.stringify` writes them, so these are their bytes.
  const [dataText, metadataText] = [data, metadata].map((value) => JSON.stringify(value ?? {})) as [string, string]
  return {
    position: String(position?.commit),
    stream,
    revision: Number(revision),
    id,
    type,
    recorded_at: created.getTime(),
    data: Object.fromEntries(Object.entries(Object(data)).filter(isKnown)) as LogEvent['data'],
    leaf: leafOf({ stream, revision, id, type, metadata: metadataText, data: dataText }),
  }
}

/** The fields that rules use. None of them is sealed. */
const known = new Set<string>([
  ...readFields,
  ...['amount_cents', 'total_cents', 'reported_amount_cents', 'currency', 'provider_id', 'provider_intent_id'],
  ...['received_cents', 'capturable_cents', 'dispute_id', 'size', 'root_hash', 'note'],
])
const isKnown = ([name]: readonly [string, unknown]) => known.has(name)

/** @returns the leaf of a line of an export */
export function leafOfLine(line: string): string {
  const { stream, revision, id, type, data, metadata } = JSON.parse(line)
  const [dataText, metadataText] = [data, metadata].map((value) => JSON.stringify(value ?? {})) as [string, string]
  return leafOf({ stream, revision: BigInt(revision), id, type, metadata: metadataText, data: dataText })
}
