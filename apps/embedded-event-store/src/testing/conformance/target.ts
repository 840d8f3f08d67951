// The server under test, and unique stream names.
import { randomUUID } from 'node:crypto'
import { EventStoreDBClient } from '@eventstore/db-client'
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { credentials } from '@grpc/grpc-js'
import { testEventStoreUrl } from '@paylog/testing/testEnvironment'
import type { Test } from 'tap'
import { connectRawTo } from '../rawStreams.ts'
import { startServerHarness } from '../serverHarness.ts'

export function freshName(kind: string): string {
  return `${kind}-${randomUUID()}`
}

export type ConformanceTarget = {
  readonly connectionString: string
  /** `host:port` */
  readonly address: string
  readonly client: EventStoreDBClient
  readonly raw: StreamsClient
  /**
   * KurrentDB treats these otherwise: appends of no events, reads without a start, events with the type of a tombstone. Its
   * size limits are configured and count metadata, and its checkpoints are at other positions.
   */
  readonly isKurrentDb: boolean
}

/**
 * Connects to the server in `TEST_EVENTSTORE_URL=esdb://host:port?tls=false`, or starts one with a new database. The
 * server may hold other data: tests use fresh stream names and only the protocol.
 *
 * @throws when the URL is that of a cluster, or requires TLS
 */
export async function conformanceTarget(t: Test): Promise<ConformanceTarget> {
  const connectionString = testEventStoreUrl()
  if (connectionString === undefined) {
    const { node, client } = await startServerHarness(t)
    const address = `127.0.0.1:${node.port}`
    const raw = connectRawTo(t, address)
    return { connectionString: `esdb://${address}?tls=false`, address, client, raw, isKurrentDb: false }
  }
  const address = addressIn(connectionString)
  const client = EventStoreDBClient.connectionString(connectionString)
  t.teardown(() => client.dispose())
  const isKurrentDb = (await majorVersionOf(address)) >= firstKurrentDb
  return { connectionString, address, client, raw: connectRawTo(t, address), isKurrentDb }
}

const firstKurrentDb = 25

function majorVersionOf(address: string): Promise<number> {
  const features = new serverFeaturesGrpc.ServerFeaturesClient(address, credentials.createInsecure())
  return new Promise<number>((resolve, reject) => {
    features.getSupportedMethods(new sharedPb.Empty(), (error, response) => {
      if (error) reject(error)
      else resolve(Number.parseInt(response.getEventStoreServerVersion(), 10))
    })
  }).finally(() => features.close())
}

function addressIn(connectionString: string): string {
  const { protocol, host, searchParams } = new URL(connectionString)
  if (protocol !== 'esdb:' || host === '' || searchParams.get('tls') !== 'false') {
    throw new Error(`TEST_EVENTSTORE_URL must read esdb://host:port?tls=false, not ${connectionString}`)
  }
  return host
}
