// Wakes the followers of the log when an event for them was recorded. One subscription serves all followers of a process;
// its events are not used, because the followers read the log themselves, so a lost one only costs time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { callOnce } from '../connection/calls.ts'
import type { Connection } from '../connection/connection.ts'
import { newEvents } from '../read/requests.ts'

/** `connected`: the subscription begins or was interrupted, so events may have been missed, and the log may be another one. */
export type WakeReason = 'event' | 'connected'

export type WakeUps = {
  /**
   * @param wake called for events of streams with these prefixes, and when the subscription begins or ends
   * @returns a function that removes the follower; the last one closes the subscription
   */
  add(prefixes: readonly string[], wake: (reason: WakeReason) => void): () => void
  /** Replaces a subscription that did not announce an event, because it may have been silent for long. */
  replace(): void
}

type Follower = { readonly prefixes: readonly string[]; readonly wake: (reason: WakeReason) => void }

const firstPauseMs = 100
const maxPauseMs = 5_000

/** @param options `connect` opens a connection for the subscription alone; `closing` aborts when the store is closed */
export function createWakeUps(options: { readonly connect: () => Connection; readonly closing: AbortSignal }): WakeUps {
  const { connect, closing } = options
  const followers = new Set<Follower>()
  let open: AbortController | undefined

  function announce(reply: ReadResp): void {
    if (reply.hasConfirmation()) wakeAll()
    const name = reply.getEvent()?.getEvent()?.getStreamIdentifier()?.getStreamName_asU8()
    if (name === undefined) return
    const stream = Buffer.from(name).toString()
    for (const { prefixes, wake } of followers) if (prefixes.some((prefix) => stream.startsWith(prefix))) wake('event')
  }

  function wakeAll(): void {
    for (const { wake } of followers) wake('connected')
  }

  async function keepOpen(signal: AbortSignal): Promise<void> {
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const connection = connect()
      const begun = performance.now()
      await subscribe(connection, announce, signal).catch(() => {})
      void connection.close()
      if (performance.now() - begun > maxPauseMs) pauseMs = firstPauseMs
      if (signal.aborted) return
      wakeAll()
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  function start(): void {
    open = new AbortController()
    void keepOpen(AbortSignal.any([open.signal, closing]))
  }

  return {
    add(prefixes, wake) {
      const follower = { prefixes, wake }
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
      if (open === undefined) return
      open.abort()
      start()
    },
  }
}

/** Runs until the server ends the call, the connection is lost, or the signal aborts. */
function subscribe({ client }: Connection, onMessage: (reply: ReadResp) => void, signal: AbortSignal): Promise<void> {
  return callOnce(
    client,
    (stub, args) =>
      new Promise((resolve, reject) => {
        const subscription = stub.read(newEvents(), ...args)
        const cancel = () => {
          resolve()
          subscription.cancel()
        }
        signal.addEventListener('abort', cancel)
        if (signal.aborted) cancel()
        subscription.on('data', onMessage)
        subscription.on('end', resolve)
        subscription.on('error', reject)
      }),
  )
}
