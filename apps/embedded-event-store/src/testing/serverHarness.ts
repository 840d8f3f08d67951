// A server in this process with its own database, and the real client connected to it.
import { EventStoreDBClient, type JSONEventData, jsonEvent } from '@eventstore/db-client'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import type { Test } from 'tap'
import { type EmbeddedEventStore, startEmbeddedEventStore } from '../embeddedEventStore.ts'

export type ServerHarness = {
  readonly node: EmbeddedEventStore
  readonly client: EventStoreDBClient
  readonly databaseUrl: string
}

export async function startServerHarness(t: Test): Promise<ServerHarness> {
  const { databaseUrl } = await createTestDatabase(t)
  const node = await startEmbeddedEventStore({
    host: '127.0.0.1',
    port: 0,
    databaseUrl,
    log: createLog({ app: 'embedded-event-store', level: 'silent' }),
    fail: (error) => t.fail('the server gave up', { error }),
  })
  t.teardown(() => node.stop())
  const client = connect(t, node.port)
  return { node, client, databaseUrl }
}

/** Must be called after the server's teardown is registered: teardowns run in reverse, so clients close first. */
export function connect(t: Test, port: number): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`)
  t.teardown(() => client.dispose())
  return client
}

export function numbered(from: number, count: number): JSONEventData[] {
  return Array.from({ length: count }, (_, index) => jsonEvent({ type: 'Numbered', data: { number: from + index } }))
}
