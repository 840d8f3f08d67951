// Recorders on an event store, and what the tree should be according to the log.
import type { LogCheckpoint } from '@paylog/domain/events'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore, type TestEventStore } from '@paylog/testing/eventStore'
import { testPool } from '@paylog/testing/testPool'
import { waitFor } from '@paylog/testing/waitFor'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { readSigning, type Signing } from '../config.ts'
import { leafHash } from '../leaf.ts'
import { newSigningKey, parseVerifierKey, type VerifierKey } from '../note.ts'
import { type RecorderState, runRecorder, startingRecorder } from '../recorder.ts'
import { createFrontier, treeRoot } from '../tree.ts'
import { readTree, storedHashes } from '../treeStore.ts'

const log = createLog({ app: 'test', level: 'silent' })

export type RecorderHarness = {
  readonly eventStore: TestEventStore
  readonly store: EventStore
  readonly pool: Pool
  /** Starts a recorder in this process, with its own connections. */
  start(signing?: Signing): { readonly state: RecorderState; stop(): Promise<void> }
  /** Waits until the tree has this many leaves. */
  reaches(size: number): Promise<void>
  /** Waits until the tree has every event of the log. Fails unless its root is that of the events. @returns its size */
  agrees(t: Test): Promise<number>
  /** Signs with the harness's key. @param target AUDIT_CHECKPOINT_URL @param variables further ones */
  signing(intervalMs: number, target?: string, variables?: Readonly<Record<string, string>>): Signing
  readonly signingKey: string
  readonly verifierKey: string
  readonly verifier: VerifierKey
}

export async function recorderHarness(t: Test): Promise<RecorderHarness> {
  const eventStore = await startEventStore(t)
  const { connectionString, databaseUrl, keys } = eventStore
  const store = connectEventStore(t, { connectionString, keys })
  const pool = testPool(t, databaseUrl)
  const { signingKey, verifierKey } = newSigningKey('example.com/payments')
  const reaches = async (size: number) => {
    await waitFor(async () => (await readTree(pool)).size >= size, { what: `${size} leaves`, timeoutMs: 20_000 })
  }
  return {
    eventStore,
    store,
    pool,
    verifier: parseVerifierKey(verifierKey),
    signingKey,
    verifierKey,
    signing(intervalMs, target, variables) {
      const read = readSigning({
        AUDIT_SIGNING_KEY: signingKey,
        AUDIT_CHECKPOINT_INTERVAL: intervalMs,
        ...(target !== undefined && { AUDIT_CHECKPOINT_URL: target }),
        ...variables,
      })
      if (read === undefined) throw new Error('The key is missing')
      return read
    },
    start(signing) {
      const state = startingRecorder()
      const stopping = new AbortController()
      const own = createEventStore({ connectionString, keys })
      const options = { databaseUrl, pool, store: own, signing, state, signal: stopping.signal, log }
      const running = runRecorder(options)
      const stop = async () => {
        stopping.abort()
        await running
        await own.close()
      }
      t.teardown(stop)
      return { state, stop }
    },
    reaches,
    async agrees(t) {
      await reaches((await rawEvents(store)).length)
      const { size } = await readTree(pool)
      t.same(await treeRoot(size, storedHashes(pool)), rootOfEvents(await rawEvents(store), size))
      return size
    },
  }
}

/** All events of the log that are leaves, read again. */
export async function rawEvents(store: EventStore): Promise<RawEvent[]> {
  const head: LogCheckpoint | undefined = await store.checkpointBefore(undefined)
  const events: RawEvent[] = []
  const done = new AbortController()
  await store.followRaw({
    name: 'test',
    start: async () => undefined,
    handle: async (batch) => {
      events.push(...batch.events)
      if (head === undefined || batch.position.commit >= head.commit) done.abort()
    },
    maxBatch: 1_000,
    signal: done.signal,
    log: { warn: () => undefined, debug: () => undefined },
  })
  return events
}

/** The root over the first leaves. */
export function rootOfEvents(events: readonly RawEvent[], size = events.length): Buffer {
  const frontier = createFrontier()
  for (const event of events.slice(0, size)) frontier.append(leafHash(event))
  return frontier.root()
}
