// What tests of the stand-in nodes do with the plain client.
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import type { Test } from 'tap'
import type { TestCluster } from './startCluster.ts'

/** A client of the cluster, or of one node. It ends with the test. */
export function connect(t: Test, { connectionString }: Pick<TestCluster, 'connectionString'>): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(connectionString)
  t.teardown(() => client.dispose())
  return client
}

/** Appends an event, at the leader only. */
export const append = (client: EventStoreDBClient, stream = 'written') =>
  client.appendToStream(stream, jsonEvent({ type: 'Tried', data: {} }), { requiresLeader: true })

/** @returns the number of events */
export async function read(client: EventStoreDBClient, options: object, stream = 'written'): Promise<number> {
  let events = 0
  for await (const _ of client.readStream(stream, options)) events += 1
  return events
}

/** @returns what a call throws, or `undefined` */
export const failure = (call: Promise<unknown>): Promise<Error | undefined> =>
  call.then(
    () => undefined,
    (error: Error) => error,
  )

/** Appends until it fails. @returns the error, and when the last acknowledged append was sent */
export async function appendUntilFailure(
  client: EventStoreDBClient,
): Promise<{ error: Error; acknowledgedMs: number }> {
  const startedAt = performance.now()
  let acknowledgedMs = 0
  for (;;) {
    const sentMs = performance.now() - startedAt
    const error = await failure(append(client))
    if (error !== undefined) return { error, acknowledgedMs }
    acknowledgedMs = sentMs
  }
}
