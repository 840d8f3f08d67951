// Creates clients of one node of the event store.
import { EventStoreDBClient } from '@eventstore/db-client'
import type { Metadata } from '@grpc/grpc-js'
import { patchBatchAppend, patchConnect } from './clientPatches.ts'
import { type ConnectionString, clientString, type Endpoint, isLoopback } from './connectionString.ts'

const defaultKeepAliveTimeoutMs = 10_000
const maxUniqueTimeouts = 1_000
let openedCount = 0

/**
 * Creates a client with its own TCP connection, which opens with the first call.
 *
 * Its options are unique, because gRPC channels with equal options share a TCP connection: a new client would get the dead
 * connection of the old one, and a server silently ignores calls beyond about a hundred per connection.
 */
export function openClient(address: ConnectionString, endpoint: Endpoint): EventStoreDBClient {
  patchBatchAppend()
  patchConnect()
  const given = Number(address.options.get('keepalivetimeout') ?? defaultKeepAliveTimeoutMs)
  const keepAliveTimeoutMs = given + (openedCount++ % maxUniqueTimeouts)
  const client = EventStoreDBClient.connectionString(clientString(address, endpoint, keepAliveTimeoutMs))
  // The client sends credentials with TLS only. The embedded event store accepts them without, and runs on this machine.
  if (!address.isEncrypted && isLoopback(endpoint)) authorizeCalls(client, address)
  return client
}

/** Every call gets its metadata from `callArguments`, the long-lived append stream included. */
function authorizeCalls(client: EventStoreDBClient, { credentials }: ConnectionString): void {
  if (credentials === undefined) return
  const authorization = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`
  const callArguments = clientMethod(client, 'callArguments')
  Reflect.set(client, 'callArguments', (...options: unknown[]) => {
    const [metadata, ...rest]: [Metadata, ...unknown[]] = callArguments(...options)
    metadata.set('authorization', authorization)
    return [metadata, ...rest]
  })
}

/** A method of the client that is private in its types only. */
export function clientMethod(client: EventStoreDBClient, name: 'execute' | 'callArguments' | 'getChannel') {
  const found: unknown = Reflect.get(client, name)
  if (typeof found !== 'function') throw new Error(`This version of @eventstore/db-client has no ${name}`)
  return found
}
