// The server under test, and unique stream names.
import { randomUUID } from 'node:crypto'
import { EventStoreDBClient } from '@eventstore/db-client'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { testEventStoreUrl } from '@paylog/testing/testEnvironment'
import type { Test } from 'tap'
import { connectRawTo } from '../rawStreams.ts'
import { startServerHarness } from '../serverHarness.ts'

export function freshName(kind: string): string {
  return `${kind}-${randomUUID()}`
}

// The server that the conformance tests are played against: any server by its address, else a server in this process.

export type ConformanceTarget = {
  readonly connectionString: string
  /** `host:port` */
  readonly address: string
  readonly client: EventStoreDBClient
  readonly raw: StreamsClient
}

/**
 * `TEST_EVENTSTORE_URL=esdb://host:port?tls=false` names a server, which may have a past: a conformance test names its
 * streams afresh and knows nothing that cannot be seen over the wire. Without it the test gets a server and a database
 * of its own.
 *
 * @throws when the address is that of a cluster, or asks for TLS
 */
export async function conformanceTarget(t: Test): Promise<ConformanceTarget> {
  const connectionString = testEventStoreUrl()
  if (connectionString === undefined) {
    const { node, client } = await startServerHarness(t)
    const address = `127.0.0.1:${node.port}`
    return { connectionString: `esdb://${address}?tls=false`, address, client, raw: connectRawTo(t, address) }
  }
  const address = addressIn(connectionString)
  const client = EventStoreDBClient.connectionString(connectionString)
  t.teardown(() => client.dispose())
  return { connectionString, address, client, raw: connectRawTo(t, address) }
}

function addressIn(connectionString: string): string {
  const { protocol, host, searchParams } = new URL(connectionString)
  if (protocol !== 'esdb:' || host === '' || searchParams.get('tls') !== 'false') {
    throw new Error(`TEST_EVENTSTORE_URL must read esdb://host:port?tls=false, not ${connectionString}`)
  }
  return host
}
