// The sending side of a read call: sends encoded messages with backpressure.

import { randomUUID } from 'node:crypto'
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { placedAt } from '../protocol/eventMessage.ts'
import { streamIdentifier } from '../protocol/identifiers.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'
import type { Form, Log } from './log.ts'

export type ReadCall = ServerWritableStream<ReadReq, Buffer>

export type Outlet = {
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal
  /** Sends a message. Returns a promise only when the client must catch up first. One call at a time. */
  send(message: Buffer): Promise<void> | undefined
}

/** @param stopping aborts when the server stops */
export function createOutlet(call: ReadCall, stopping: AbortSignal): Outlet {
  const ended = new AbortController()
  let release: (() => void) | undefined
  const resume = () => {
    release?.()
    release = undefined
  }
  const end = () => {
    ended.abort()
    stopping.removeEventListener('abort', end)
    resume()
  }
  // Not AbortSignal.any, because `stopping` would keep a reference for the life of the process.
  stopping.addEventListener('abort', end)
  if (stopping.aborted) end()
  call.on('cancelled', end)
  call.on('close', end)
  call.on('drain', resume)
  return {
    signal: ended.signal,
    send(message) {
      if (ended.signal.aborted || call.write(message)) return undefined
      return new Promise((resolve) => {
        release = resolve
      })
    },
  }
}

/** Sends in order, waiting only when the client is slow; stops when the client disconnects. */
async function sendAll(outlet: Outlet, messages: readonly Buffer[]): Promise<void> {
  for (const message of messages) {
    const slow = outlet.send(message)
    if (slow !== undefined) await slow
    if (outlet.signal.aborted) return
  }
}

/** Links resolved at a time, because each target may have the maximum event size. */
const linksAtOnce = 16

/** Splits events so that a portion fits in memory together with the targets of its links. */
export function* inPortions(events: readonly StoredEvent[], form: Form): Generator<readonly StoredEvent[], void> {
  const atOnce = form.resolveLinks ? linksAtOnce : Math.max(1, events.length)
  for (let from = 0; from < events.length; from += atOnce) yield events.slice(from, from + atOnce)
}

/** Sends events in order, with links resolved on request; stops when the client disconnects. */
export async function sendEvents(
  log: Pick<Log, 'messages'>,
  outlet: Outlet,
  events: readonly StoredEvent[],
  form: Form,
): Promise<void> {
  for (const portion of inPortions(events, form)) {
    await sendAll(outlet, await log.messages(portion, form))
    if (outlet.signal.aborted) return
  }
}

function encoded(fill: (response: InstanceType<typeof streams.ReadResp>) => void): Buffer {
  const response = new streams.ReadResp()
  fill(response)
  return Buffer.from(response.serializeBinary())
}

export function confirmationMessage(): Buffer {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation()
  confirmation.setSubscriptionId(randomUUID())
  return encoded((response) => response.setConfirmation(confirmation))
}

export function caughtUpMessage(): Buffer {
  return encoded((response) => response.setCaughtUp(new streams.ReadResp.CaughtUp()))
}

export function checkpointMessage(position: bigint): Buffer {
  return encoded((response) => response.setCheckpoint(placedAt(new streams.ReadResp.Checkpoint(), position)))
}

export function streamNotFoundMessage(stream: string): Buffer {
  const notFound = new streams.ReadResp.StreamNotFound()
  notFound.setStreamIdentifier(streamIdentifier(stream))
  return encoded((response) => response.setStreamNotFound(notFound))
}

export function firstStreamPositionMessage(revision: bigint): Buffer {
  return encoded((response) => response.setFirstStreamPosition(String(revision)))
}

export function lastStreamPositionMessage(revision: bigint): Buffer {
  return encoded((response) => response.setLastStreamPosition(String(revision)))
}
