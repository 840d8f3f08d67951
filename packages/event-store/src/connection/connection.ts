// How long the log may take to answer before a caller is told the truth.
import { EventStoreDBClient } from '@eventstore/db-client'
import type { Metadata } from '@grpc/grpc-js'
import { patchBatchAppend, patchConnect } from './clientPatches.ts'
import { assertSupportedOptions, splitPlainCredentials } from './connectionString.ts'
import { withTimeout } from './errors.ts'

/** All in milliseconds. */
export type EventStoreTiming = {
  /** One append waits this long for its answer; the client itself would wait for ever. */
  readonly appendTimeoutMs: number
  /** An append without a clear answer is repeated, with the same ids, for this long. */
  readonly appendRetryTimeoutMs: number
  /** A read waits this long for its next event, so that a long stream may take its time. */
  readonly readTimeoutMs: number
  /** A read that fails is repeated for this long: long enough for a store that restarts. */
  readonly readRetryTimeoutMs: number
  /** How often a subscription that hears nothing looks whether there was something to hear. */
  readonly lagCheckMs: number
}

export const defaultTiming: EventStoreTiming = {
  appendTimeoutMs: 6_000,
  appendRetryTimeoutMs: 15_000,
  readTimeoutMs: 3_000,
  readRetryTimeoutMs: 5_000,
  lagCheckMs: 10_000,
}

// Connections to the event store: each purpose has its own, and one that went silent is replaced.

export type Connection = {
  readonly client: EventStoreDBClient
  /** Cancels what is open and lets the connection go; bounded. */
  close(): Promise<void>
}

/** A connection for short calls. */
export type ReplaceableConnection = {
  current(): EventStoreDBClient
  /** Whoever asks next gets a new connection, unless this client was replaced before. */
  replace(unresponsive: EventStoreDBClient): void
  close(): Promise<void>
}

/** What an append or a read needs: where to, how patiently, and when to stop trying. */
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
 * Connects with the first call, over a TCP connection of its own.
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
      // Cancels at once. What it returns may never settle: a call that was left with unread messages does not finish.
      void client.dispose()
      await withTimeout(closeChannel(client), closeTimeoutMs, 'Closing a connection').catch(() => {})
    },
  }
}

/**
 * @param callTimeoutMs how long a call on a replaced connection may still take: those that are only slow are answered there,
 *   and nobody waits for the others any more when it is closed
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
 * gRPC lets channels with equal options share a TCP connection: a new client would get the dead connection of the old one,
 * and a server takes about a hundred calls per connection and leaves the next ones, subscriptions too, without a word.
 */
function withUniqueTimeout(connectionString: string): string {
  const given = /[?&]keep[-_]?alive[-_]?timeout=(\d+)/i.exec(connectionString)
  const timeoutMs = Number(given?.[1] ?? defaultKeepAliveTimeoutMs) + (openedCount++ % maxUniqueTimeouts)
  // The last of several equal keys counts.
  return `${connectionString}${connectionString.includes('?') ? '&' : '?'}keepAliveTimeout=${timeoutMs}`
}

/** Every call asks `callArguments` for its metadata, the long-lived stream of appends included. */
function authorizeCalls(client: EventStoreDBClient, authorization: string): void {
  const callArguments = clientMethod(client, 'callArguments')
  Reflect.set(client, 'callArguments', (...options: unknown[]) => {
    const [metadata, ...rest]: [Metadata, ...unknown[]] = callArguments(...options)
    metadata.set('authorization', authorization)
    return [metadata, ...rest]
  })
}

/** The client keeps what it is made of from the compiler, not from the program. */
export function clientMethod(client: EventStoreDBClient, name: 'execute' | 'callArguments' | 'getChannel') {
  const found: unknown = Reflect.get(client, name)
  if (typeof found !== 'function') throw new Error(`This version of @eventstore/db-client has no ${name}`)
  return found
}

/** The client has no public way to do this; a channel that is only forgotten stays connected for half an hour. */
async function closeChannel(client: EventStoreDBClient): Promise<void> {
  const channel: { close(): void } = await clientMethod(client, 'getChannel')()
  channel.close()
}
