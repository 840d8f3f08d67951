// Connections to the event store: each purpose has its own, and one that stops responding is replaced.
import { setImmediate } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import type { Metadata } from '@grpc/grpc-js'
import { patchBatchAppend, patchConnect } from './clientPatches.ts'
import { assertSupportedOptions, splitPlainCredentials } from './connectionString.ts'
import { withTimeout } from './errors.ts'

/** All in milliseconds. */
export type EventStoreTiming = {
  /** Timeout of one append attempt; the client itself would wait for ever. */
  readonly appendTimeoutMs: number
  /** An append with an unknown outcome is repeated, with the same ids, for this long. */
  readonly appendRetryTimeoutMs: number
  /** A read waits this long for its next event; there is no limit for a whole stream. */
  readonly readTimeoutMs: number
  /** A failed read is repeated for this long, which covers a restart of the store. */
  readonly readRetryTimeoutMs: number
  /** How often a follower at the end of the log looks for events that nothing announced. */
  readonly pollMs: number
}

export const defaultTiming: EventStoreTiming = {
  appendTimeoutMs: 6_000,
  appendRetryTimeoutMs: 15_000,
  readTimeoutMs: 3_000,
  readRetryTimeoutMs: 5_000,
  pollMs: 5_000,
}

export type Connection = {
  readonly client: EventStoreDBClient
  /** Cancels open calls and closes the connection, within a second. */
  close(): Promise<void>
}

/** A connection for short calls. */
export type ReplaceableConnection = {
  current(): EventStoreDBClient
  /** Makes `current` return a new connection, unless this client has been replaced before. */
  replace(unresponsive: EventStoreDBClient): void
  close(): Promise<void>
}

/** Connection, timeouts and cancellation of appends. */
export type ConnectionContext = {
  readonly connection: ReplaceableConnection
  readonly timing: EventStoreTiming
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
}

const closeTimeoutMs = 1_000
const defaultKeepAliveTimeoutMs = 10_000
const maxUniqueTimeouts = 1_000
let openedCount = 0

/**
 * Creates a client with its own TCP connection, which opens with the first call.
 * @throws Error for an option that the client does not support, and for credentials that would be sent in plain text
 */
export function connect(connectionString: string): Connection {
  patchBatchAppend()
  patchConnect()
  assertSupportedOptions(connectionString)
  const { address, authorization } = splitPlainCredentials(connectionString)
  const client = EventStoreDBClient.connectionString(withUniqueTimeout(address))
  if (authorization !== undefined) authorizeCalls(client, authorization)
  return {
    client,
    async close() {
      // Cancels at once. The returned promise may never settle, because a call with unread messages does not finish.
      void client.dispose()
      await withTimeout(closeChannel(client), closeTimeoutMs, 'Closing a connection').catch(() => {})
    },
  }
}

/**
 * @param callTimeoutMs how long a replaced connection stays open, so that slow calls can still finish on it
 */
export function createReplaceableConnection(connectionString: string, callTimeoutMs: number): ReplaceableConnection {
  let connection = connect(connectionString)
  const replaced = new Set<Connection>()
  return {
    current: () => connection.client,
    replace(unresponsive) {
      if (connection.client !== unresponsive) return
      const old = connection
      connection = connect(connectionString)
      replaced.add(old)
      const close = () => {
        replaced.delete(old)
        void old.close()
      }
      setTimeout(close, callTimeoutMs).unref()
    },
    async close() {
      await Promise.all([connection, ...replaced].map((open) => open.close()))
    },
  }
}

/**
 * Makes the connection's options unique, because gRPC channels with equal options share a TCP connection: a new client
 * would get the dead connection of the old one, and a server silently ignores calls beyond about a hundred per connection.
 */
function withUniqueTimeout(connectionString: string): string {
  const given = /[?&]keep[-_]?alive[-_]?timeout=(\d+)/i.exec(connectionString)
  const timeoutMs = Number(given?.[1] ?? defaultKeepAliveTimeoutMs) + (openedCount++ % maxUniqueTimeouts)
  // The client uses the last of several equal keys.
  return `${connectionString}${connectionString.includes('?') ? '&' : '?'}keepAliveTimeout=${timeoutMs}`
}

/** Every call gets its metadata from `callArguments`, the long-lived append stream included. */
function authorizeCalls(client: EventStoreDBClient, authorization: string): void {
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

/**
 * The client has no public method for this, and an unclosed channel stays connected for half an hour. gRPC (1.14) connects a
 * channel a tick after its first call, even if it was closed in between, and then never closes it.
 */
async function closeChannel(client: EventStoreDBClient): Promise<void> {
  const channel: { close(): void } = await clientMethod(client, 'getChannel')()
  await setImmediate()
  channel.close()
}
