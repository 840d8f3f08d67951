// New events for the followers of the log. One subscription, from the end of the log, serves all followers of a process.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { anySignal } from '@paylog/runtime/anySignal'
import { callOnce } from '../connection/calls.ts'
import type { Connection, Connections } from '../connection/connection.ts'
import { type RawEvent, streamOf, toRawEvent } from '../read/rawEvent.ts'
import { type LogFilter, newEvents, passes } from '../read/requests.ts'

export type NewEvents = {
  /** @returns a function that removes the follower; the last one closes the subscription */
  add(follower: NewEventsFollower): () => void
  /** Whether the server has confirmed the subscription. */
  isConfirmed(): boolean
  /**
   * Replaces a subscription that did not deliver an event: it may have been silent for long. One that is not confirmed yet
   * stays: on a slow machine, followers that find events would replace it again and again.
   */
  replace(): void
}

export type NewEventsFollower = {
  readonly filter: LogFilter
  /** Called with every event that passes the filter, in order. */
  readonly onEvent: (event: RawEvent) => void
  /**
   * Called when the subscription begins and when it was interrupted: events may have been missed, and the log may be
   * another one.
   */
  readonly onConnection: () => void
}

const firstPauseMs = 100
const maxPauseMs = 1_000

/** Longer than an election takes. */
const connectTimeoutMs = 15_000
/** A node that is killed or starts may leave the call open without a response, and a quiet log has no event that reveals it. */
const defaultConfirmMs = 10_000

/**
 * @param options `open` connects the subscription alone to the leader; `closing` aborts when the store is closed; a
 *   subscription that is not confirmed within `confirmMs` is opened again
 */
export function createNewEvents(options: {
  readonly open: Connections['open']
  readonly closing: AbortSignal
  readonly confirmMs?: number
}): NewEvents {
  const { open: connect, closing, confirmMs = defaultConfirmMs } = options
  const followers = new Set<NewEventsFollower>()
  let open: AbortController | undefined
  let isConfirmed = false

  function deliver(reply: ReadResp): void {
    if (reply.hasConfirmation()) announceConnection(true)
    const recorded = reply.getEvent()?.getEvent()
    if (recorded === undefined) return
    const properties = { stream: streamOf(recorded), type: recorded.getMetadataMap().get('type') ?? '' }
    let event: RawEvent | undefined
    for (const { filter, onEvent } of followers) {
      if (!passes(filter, properties)) continue
      event ??= toRawEvent(recorded)
      onEvent(event)
    }
  }

  function announceConnection(confirmed: boolean): void {
    isConfirmed = confirmed
    for (const { onConnection } of followers) onConnection()
  }

  async function keepOpen(signal: AbortSignal): Promise<void> {
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const connection = await connect(connectTimeoutMs).catch(() => undefined)
      const startedAt = performance.now()
      if (connection !== undefined) {
        const silent = new AbortController()
        const timer = setTimeout(() => isConfirmed || silent.abort(), confirmMs)
        await subscribe(connection, deliver, anySignal(signal, silent.signal)).catch(() => {})
        clearTimeout(timer)
        void connection.close()
      }
      if (performance.now() - startedAt > maxPauseMs) pauseMs = firstPauseMs
      if (signal.aborted) return
      announceConnection(false)
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  function start(): void {
    isConfirmed = false
    open = new AbortController()
    void keepOpen(anySignal(open.signal, closing))
  }

  return {
    isConfirmed: () => isConfirmed,
    add(follower) {
      followers.add(follower)
      if (open === undefined) start()
      return () => {
        followers.delete(follower)
        if (followers.size > 0) return
        open?.abort()
        open = undefined
      }
    },
    replace() {
      if (open === undefined || !isConfirmed) return
      open.abort()
      start()
    },
  }
}

/** Runs until the server ends the call, the connection is lost, its node leads no longer, or the signal aborts. */
function subscribe(connection: Connection, onMessage: (reply: ReadResp) => void, signal: AbortSignal): Promise<void> {
  return callOnce(
    connection,
    (stub, args) =>
      new Promise((resolve, reject) => {
        const subscription = stub.read(newEvents(), ...args)
        const cancel = () => {
          resolve()
          subscription.cancel()
        }
        const ending = anySignal(signal, connection.ended)
        ending.addEventListener('abort', cancel)
        if (ending.aborted) cancel()
        subscription.on('data', (reply: ReadResp) => {
          if (!ending.aborted) onMessage(reply)
        })
        subscription.on('end', resolve)
        subscription.on('error', reject)
      }),
  )
}
