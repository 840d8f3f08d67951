// Two logs on embedded event stores, for tests of copying.

import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { startEventStore, type TestEventStore } from '@paylog/testing/eventStore'
import { positionAt } from '@paylog/testing/positionAt'
import pg from 'pg'
import type { Test } from 'tap'
import { createRawClient, type RawClient } from '../connection/calls.ts'
import { type CopyProgress, copyLog } from '../copy-log/copyLog.ts'
import { isSystemStream, type RawEvent } from '../read/rawEvent.ts'
import { readEvents } from '../read/readPage.ts'

type Store = Pick<TestEventStore, 'connectionString' | 'databaseUrl'>
export type TestLog = { readonly store: Store; readonly client: EventStoreDBClient; readonly raw: RawClient }

function connectLog<S extends Store>(t: Test, store: S): TestLog & { readonly store: S } {
  const client = EventStoreDBClient.connectionString(store.connectionString)
  const raw = createRawClient({ name: 'the log', connectionString: store.connectionString })
  t.teardown(() => Promise.all([client.dispose(), raw.close()]))
  return { store, client, raw }
}

/** @param settings environment variables of both event stores */
export async function startLogs(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const [source, target] = await Promise.all([startEventStore(t, settings), startEventStore(t, settings)])
  return { source: connectLog(t, source), target: connectLog(t, target) }
}

export const copyTestLog = (
  source: TestLog,
  target: TestLog,
  onProgress: (progress: CopyProgress) => void = () => undefined,
) => copyLog({ from: source.store.connectionString, to: target.store.connectionString, onProgress })

export const numberedEvent = (number: number) => jsonEvent({ type: 'Numbered', data: { number } })

export function rawEventFixture(
  stream: string,
  revision: number,
  { data = '{}', ...overrides }: Partial<Omit<RawEvent, 'data'>> & { readonly data?: string } = {},
): RawEvent {
  return {
    stream,
    revision: BigInt(revision),
    id: randomUUID(),
    type: 'Raw',
    contentType: 'application/json',
    metadata: Buffer.alloc(0),
    created: new Date(0),
    position: positionAt(0n),
    data: Buffer.from(data),
    ...overrides,
  }
}

/** All copied events as text, without positions. */
export async function logContents(log: TestLog): Promise<string[]> {
  const lines: string[] = []
  for await (const event of readEvents(log.raw)) {
    if (isSystemStream(event.stream)) continue
    const bytes = [event.data, event.metadata].map((each) => Buffer.from(each).toString('hex'))
    lines.push([event.stream, event.revision, event.id, event.type, event.contentType, ...bytes].join(' '))
  }
  return lines
}

/** Appends two events to each of `streams` streams, interleaved. */
export async function fillLog({ client }: TestLog, streams: number): Promise<void> {
  await Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await client.appendToStream(`filled-${index}`, numberedEvent(0))
      await client.appendToStream(`filled-${index}`, numberedEvent(1))
    }),
  )
}

export async function inDatabase({ store }: TestLog, work: (database: pg.Client) => Promise<unknown>): Promise<void> {
  const database = new pg.Client({ connectionString: store.databaseUrl })
  await database.connect()
  await work(database).finally(() => database.end())
}
