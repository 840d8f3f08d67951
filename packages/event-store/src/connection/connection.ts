// Connections to the event store: each purpose has its own, and one that stops responding is replaced.

import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { anySignal } from '@paylog/runtime/anySignal'
import type { EventStoreTiming } from '../timing.ts'
import { clientMethod, openClient } from './client.ts'
import { parseConnectionString } from './connectionString.ts'
import { withTimeout } from './errors.ts'
import { type Leader, type LeaderWatch, watchLeader } from './leader.ts'
import { type Outages, reportOutages, type StoreLog } from './outages.ts'

export type Connection = {
  readonly client: EventStoreDBClient
  /** Aborts when its node leads no longer, and when the store is closed. */
  readonly ended: AbortSignal
  /** Cancels open calls and closes the connection, within a second. */
  close(): Promise<void>
}

/** A connection for short calls. */
export type ReplaceableConnection = {
  /** The connection to the leader. @throws ResponseTimeoutError when no leader is known within `waitMs` */
  current(waitMs: number): Promise<Connection>
  /** The client of the current connection. @throws Error when no leader is known yet */
  readonly client: EventStoreDBClient
  /** Makes `current` return a new connection, unless this one has been replaced before. */
  replace(unresponsive: Connection): void
  /**
   * Makes `current` return a new connection. In a cluster this waits until a node that was stopped has learned that it leads
   * no longer.
   */
  renew(): Promise<void>
  /** An attempt of a call failed: there may be an election. */
  suspect(): void
  close(): Promise<void>
}

/** The connections of a process to one event store. */
export type Connections = {
  /** A new connection to the leader. @throws ResponseTimeoutError when no leader is known within `waitMs` */
  open(waitMs: number): Promise<Connection>
  /** @param callTimeoutMs how long a replaced connection stays open, so that slow calls can still finish on it */
  replaceable(callTimeoutMs: number): ReplaceableConnection
  readonly outages: Outages
}

/** Connection, timeouts and cancellation of appends. */
export type ConnectionContext = {
  readonly connection: ReplaceableConnection
  readonly timing: EventStoreTiming
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
  readonly outages?: Outages
}

const closeTimeoutMs = 1_000

/** A timer may end this much early. */
const timerToleranceMs = 5
/** In a cluster, an election may be over before that. */
const quietMs = 10_000
/** A node that was stopped may call itself the leader for up to 2 s after it continues, and its log ends early. */
const staleLeaderMs = 3_000

/**
 * Connects to the node that leads, now and after an election.
 * @param options `closing` ends the search for a leader; the connections are closed one by one
 * @throws BadVariable for a connection string that cannot be used
 */
export function createConnections(options: {
  readonly connectionString: string
  readonly closing: AbortSignal
  readonly log?: StoreLog | undefined
}): Connections {
  const { closing, log } = options
  const address = parseConnectionString(options.connectionString)
  const outages = reportOutages(log, address.isCluster ? quietMs : 0)
  const watch = watchLeader(address, { log, outages, closing })
  const connect = ({ endpoint, ended }: Leader) =>
    connectionOf(openClient(address, endpoint), anySignal(ended, closing))
  return {
    open: async (waitMs) => connect(await watch.leader(waitMs)),
    replaceable: (callTimeoutMs) =>
      createReplaceable({ watch, connect, callTimeoutMs, renewMs: address.isCluster ? staleLeaderMs : 0, closing }),
    outages,
  }
}

function connectionOf(client: EventStoreDBClient, ended: AbortSignal): Connection {
  return {
    client,
    ended,
    async close() {
      // Cancels at once. The returned promise may never settle, because a call with unread messages does not finish.
      void client.dispose()
      await withTimeout(closeChannel(client), closeTimeoutMs, 'Closing a connection').catch(() => {})
    },
  }
}

function createReplaceable(options: {
  readonly watch: LeaderWatch
  readonly connect: (leader: Leader) => Connection
  readonly callTimeoutMs: number
  readonly renewMs: number
  readonly closing: AbortSignal
}): ReplaceableConnection {
  const { watch, connect, callTimeoutMs, renewMs, closing: signal } = options
  let connection: Connection | undefined
  let connectedTo: Leader | undefined
  let connectedAt = 0
  const replaced = new Set<Connection>()

  function retire(old: Connection): void {
    connection = undefined
    replaced.add(old)
    const close = () => {
      replaced.delete(old)
      void old.close()
    }
    setTimeout(close, callTimeoutMs).unref()
  }

  function connectionTo(leader: Leader): Connection {
    if (connection !== undefined && connectedTo !== leader) retire(connection)
    if (connection === undefined) {
      connection = connect(leader)
      connectedTo = leader
      connectedAt = performance.now()
    }
    return connection
  }

  return {
    current: async (waitMs) => connectionTo(await watch.leader(waitMs)),
    get client() {
      const leader = watch.known()
      if (leader === undefined) throw new Error('No leader of the event store is known yet')
      return connectionTo(leader).client
    },
    suspect: watch.suspect,
    async renew() {
      watch.suspect()
      await sleep(renewMs, undefined, { signal }).catch(() => {})
      if (connection !== undefined) retire(connection)
    },
    replace(unresponsive) {
      watch.suspect()
      // The last attempts of a request are short, and a new connection may take longer than one of them.
      const hasHadTime = performance.now() - connectedAt >= callTimeoutMs - timerToleranceMs
      if (connection === unresponsive && hasHadTime) retire(unresponsive)
    },
    async close() {
      const open = connection === undefined ? [...replaced] : [connection, ...replaced]
      await Promise.all(open.map((each) => each.close()))
    },
  }
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
